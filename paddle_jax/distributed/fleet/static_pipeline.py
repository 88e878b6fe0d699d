"""Static programs in stages: `strategy.pipeline` with `device_guard("gpu:0")`, `device_guard("gpu:1")` ...

Each process computes the operations of its stage for one micro-batch after the other, in the order of 1F1B.
It keeps what a stage takes in, and computes the rest again for the gradients. Every process holds all
Parameters, and makes all updates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tensors.held_values import computed_array, held_symbol
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax._program.composites import eager_mode
from paddle_jax._program.evaluate import Gradient
from paddle_jax._program.operation import Operation
from paddle_jax._program.program import Program
from paddle_jax.distributed.fleet.base.topology import own_group
from paddle_jax.distributed.fleet.meta_parallel.pp_utils.p2p_communication import (
    GRADIENT,
    OUTPUT,
    StageMessages,
)
from paddle_jax.distributed.fleet.static_switches import WHERE, refuse_together
from paddle_jax.distributed.schedules import FORWARD, Pipeline, one_forward_one_backward
from paddle_jax.static.backward import differentiated
from paddle_jax.static.executor import CompiledRun

_RESULTS = "results"
_EXCLUDED = ("localsgd", "adaptive_localsgd", "dgc", "sharding", "tensor_parallel", "sync_batch_norm")


def check_pipeline(strategy: Any) -> None:
    """Refuses what does not go together with `strategy.pipeline`.

    Raises:
        NotImplementedError: another switch is on.
        ValueError: accumulate_steps is below 1.
    """
    refuse_together(strategy, "pipeline", _EXCLUDED)
    steps = strategy.pipeline_configs["accumulate_steps"]
    if steps < 1:
        raise ValueError(f"{WHERE}.pipeline_configs: accumulate_steps: got {steps}; it must be 1 or more")


class _StageRun(CompiledRun):
    """A run that draws the random numbers of another one.

    Attributes:
        key: seed words and offset of the random numbers; None: the next ones.
    """

    key: tuple[Any, Any] | None = None

    def _next_random_key(self) -> tuple[Any, Any]:
        if self.key is None:
            self.key = super()._next_random_key()
        return self.key


class _Alone(NamedTuple):
    """Stands for the Group of a process alone, which has all stages and sends nothing."""

    rank: int = 0
    nranks: int = 1
    ranks: tuple[int, ...] = (0,)
    id: int = 0
    process_group: Any = None


def _stages_of(ops: Iterable[Operation]) -> dict[Operation, int]:
    """The stage of each operation. One outside of `device_guard` is where its last operand is made.

    Raises:
        ValueError: an operation takes in what a later stage makes.
    """
    stages: dict[Operation, int] = {}
    made: dict[Symbol, int] = {}
    for op in ops:
        earliest = max([made.get(symbol, 0) for symbol in op.inputs], default=0)
        number = op.device.partition(":")[2]
        stage = int(number) if number.isdigit() else earliest
        if stage < earliest:
            raise ValueError(
                f"device_guard: {op.name} of stage {stage} takes a result of stage {earliest}; stages run in "
                "the order of their numbers"
            )
        stages[op] = stage
        made.update(dict.fromkeys(op.outputs, stage))
    return stages


class Stage:
    """What one process computes of a program.

    Attributes:
        index: number of the stage.
        received: {number of an earlier stage: list of the Symbols that it sends}.
        sent: {number of a later stage: list of the Symbols that it gets}.
        fetched: list of the Symbols that the run fetches, and this stage makes.
        taken_names: dict from the Symbols that are received to the inputs that stand for them.
        outputs: list of the Symbols that are sent or fetched.
        forward: _StageRun of these.
        start_names: dict from the Symbols that are sent to the inputs for their gradients.
        gradient_inputs: list of the received Symbols that have a gradient.
        own_params: list of the positions, among the gradients of the program, of those of this stage.
        backward: _StageRun of both kinds of gradients.
        writes: list of the names of Variables that the stage stores.
    """

    def __init__(
        self,
        program: Program,
        gradient: Gradient,
        index: int,
        count: int,
        fetches: Sequence[Symbol],
        writes: dict[str, Symbol],
    ) -> None:
        ops = program.pruned([*gradient.targets, *fetches, *writes.values()])
        stages = dict.fromkeys(ops, 0) if count == 1 else _stages_of(ops)
        made = {symbol: stage for op, stage in stages.items() for symbol in op.outputs}
        self.index = index
        self.received, self.sent = _crossings(stages, made, index)
        self.fetched: list[Symbol] = [s for s in dict.fromkeys(fetches) if made.get(s) == index]
        own_writes = {name: s for name, s in writes.items() if made.get(s) == index}
        self.writes: list[str] = list(own_writes)
        taken = list(dict.fromkeys(s for symbols in self.received.values() for s in symbols))
        given = list(dict.fromkeys(s for symbols in self.sent.values() for s in symbols))
        stage_program = program.clone()
        stage_program.hook = None
        inputs = {s: Symbol(s.avals, "data", stage_program, _input_name(s, taken)) for s in taken}
        stage_program.ops = [_with_inputs(op, inputs) for op, stage in stages.items() if stage == index]
        stage_program.changed()
        self.taken_names: dict[Symbol, str] = {s: str(one.name) for s, one in inputs.items()}
        self.outputs: list[Symbol] = [*given, *self.fetched]
        self.forward = _StageRun(stage_program, self.outputs, False, own_writes)
        # Gradients begin at what later stages send back, and at the loss.
        targets = [s for s in given if s.dtype.kind in INEXACT]
        starts: list[Any] = [
            Symbol(s.avals, "data", stage_program, f"{_input_name(s, given)}@GRAD") for s in targets
        ]
        self.start_names: dict[Symbol, str] = {t: s.name for t, s in zip(targets, starts, strict=True)}
        for target in gradient.targets:
            if made.get(target) == index:
                targets.append(target)
                starts.append(None)
        differentiable = [s for s in taken if s.dtype.kind in INEXACT]
        wanted = [*[inputs[s] for s in differentiable], *gradient.wanted]
        found = (
            differentiated(stage_program, targets, starts, wanted, None) if targets else [None] * len(wanted)
        )
        of_inputs = found[: len(differentiable)]
        of_params = found[len(differentiable) :]
        self.gradient_inputs: list[Symbol] = [
            s for s, one in zip(differentiable, of_inputs, strict=True) if one is not None
        ]
        # Positions among the gradients of the program.
        self.own_params: list[int] = [i for i, one in enumerate(of_params) if one is not None]
        results = [held_symbol(one) for one in (*of_inputs, *of_params) if one is not None]
        self.backward = _StageRun(stage_program, results, True, {})


def _input_name(symbol: Symbol, symbols: Sequence[Symbol]) -> str:
    """The name of the input of a stage that stands for a Symbol."""
    return f"{symbol.name or 'value'}@STAGE_{symbols.index(symbol)}"


def _with_inputs(op: Operation, inputs: dict[Symbol, Symbol]) -> Operation:
    """An operation that takes what is received in place of what other stages make."""
    if not any(symbol in inputs for symbol in op.inputs):
        return op
    replaced = [inputs.get(symbol, symbol) for symbol in op.inputs]
    copy = Operation(op.kernel, replaced, op.stops, op.many, op.scope, op.host)
    copy.outputs = op.outputs
    copy.where = op.where
    return copy


def _crossings(
    stages: dict[Operation, int], made: dict[Symbol, int], index: int
) -> tuple[dict[int, list[Symbol]], dict[int, list[Symbol]]]:
    """What a stage receives from each earlier one, and sends to each later one."""
    received: dict[int, dict[Symbol, None]] = defaultdict(dict)
    sent: dict[int, dict[Symbol, None]] = defaultdict(dict)
    for op, stage in stages.items():
        for symbol in op.inputs:
            source = made.get(symbol, stage)
            if source == stage:
                continue
            if stage == index:
                received[source][symbol] = None
            if source == index:
                sent[stage][symbol] = None
    return (
        {stage: list(symbols) for stage, symbols in sorted(received.items())},
        {stage: list(symbols) for stage, symbols in sorted(sent.items())},
    )


class StagedRun:
    """Runs a program in stages, in place of its first part.

    Attributes:
        steps: number of micro-batches.
        stage: Stage of this process.
        messages: StageMessages.
        fetches: list of the Symbols that are fetched.
        gradients: list of the Symbols of the gradients.
        positions: list of the places of these among the results of the operation that makes them.
        order: list of the steps of this process.
    """

    def __init__(
        self,
        program: Program,
        group: Any,
        steps: int,
        fetches: Sequence[Symbol],
        gradients: Sequence[Symbol],
        writes: dict[str, Symbol],
    ) -> None:
        gradient = _only_gradient(gradients)
        for symbol in fetches:
            if symbol.kind == "result" and any(op is gradient for op in program.pruned([symbol])):
                raise NotImplementedError(
                    f"Executor.run: fetch_list: {symbol.name} is computed from gradients, which the stages "
                    "of a pipeline have in part; fetch Parameters or results of the network"
                )
        self.steps = steps
        self.fetches = list(fetches)
        self.gradients = list(gradients)
        self.stage = Stage(program, gradient, group.rank, group.nranks, fetches, writes)
        self.positions: list[int] = [gradient.outputs.index(one) for one in gradients]
        self.messages = StageMessages(group, Pipeline(group.nranks, steps))
        self.order: list[Any] = one_forward_one_backward(self.messages.sizes, group.rank)

    def __call__(self, program: Program, values: dict[str, Any], feed: dict[str, Any]) -> list[Any]:
        """What is fetched, and then the gradients: their mean over all processes is that of the batch."""
        feeds = self._micro_batches(program, feed)
        fetched: list[list[Any]] = []
        keys: dict[int, Any] = {}
        sums: dict[int, Any] = {}
        for step in self.order:
            i = step.micro_batch
            if step.kind == FORWARD:
                fetched.append(self._forward(values, feeds[i], keys, i))
            else:
                self._backward(values, feeds[i], keys.pop(i), i, sums)
        results = self._shared_results(values, fetched)
        self.messages.finish()
        out = [results[symbol] if symbol in results else feed[str(symbol.name)] for symbol in self.fetches]
        return out + self._gradients(values, sums)

    def _micro_batches(self, program: Program, feed: dict[str, Any]) -> list[dict[str, Any]]:
        """The feed of each micro-batch."""
        parts: list[dict[str, Any]] = [{} for _ in range(self.steps)]
        for name, value in feed.items():
            if name not in program.data:
                continue
            array = np.asarray(value)
            if array.ndim and array.shape[0] % self.steps:
                raise ValueError(
                    f"Executor.run: feed: {name}: got {array.shape[0]} rows; accumulate_steps {self.steps} "
                    "must divide them"
                )
            pieces = np.split(array, self.steps) if array.ndim else [array] * self.steps
            for part, piece in zip(parts, pieces, strict=True):
                part[name] = piece
        return parts

    def _forward(
        self, values: dict[str, Any], feed: dict[str, Any], keys: dict[int, Any], i: int
    ) -> list[Any]:
        """Computes a micro-batch; adds what is received to its feed, and returns what is fetched."""
        stage = self.stage
        for source, symbols in stage.received.items():
            tensors = self.messages.receive(OUTPUT, source, 0, i)
            for symbol, tensor in zip(symbols, tensors, strict=True):
                feed[stage.taken_names[symbol]] = to_numpy(tensor._value)
        stage.forward.key = None
        out = stage.forward(values, feed)
        keys[i] = stage.forward.key
        made = dict(zip(stage.outputs, out, strict=True))
        for target, symbols in stage.sent.items():
            self.messages.send(OUTPUT, target, 0, [wrap(to_array(made[symbol])) for symbol in symbols])
        return [to_numpy(made[symbol]) for symbol in stage.fetched]

    def _backward(
        self, values: dict[str, Any], feed: dict[str, Any], key: Any, i: int, sums: dict[int, Any]
    ) -> None:
        """Computes the gradients of a micro-batch, adds those of Parameters to sums, and sends the others."""
        stage = self.stage
        for source, symbols in stage.sent.items():
            tensors = self.messages.receive(GRADIENT, source, 0, i)
            floating = [symbol for symbol in symbols if symbol in stage.start_names]
            for symbol, tensor in zip(floating, tensors, strict=True):
                name = stage.start_names[symbol]
                arrived = to_numpy(tensor._value)
                # Several stages may take the same result.
                feed[name] = feed[name] + arrived if name in feed else arrived
        stage.backward.key = key
        out = stage.backward(values, feed)
        of_inputs = dict(zip(stage.gradient_inputs, out, strict=False))
        with eager_mode():
            for position, one in zip(stage.own_params, out[len(of_inputs) :], strict=True):
                tensor = wrap(to_array(one))
                sums[position] = sums[position] + tensor if position in sums else tensor
            for source, symbols in stage.received.items():
                floating = [symbol for symbol in symbols if symbol.dtype.kind in INEXACT]
                tensors = []
                for symbol in floating:
                    if symbol in of_inputs:
                        tensors.append(wrap(to_array(of_inputs[symbol])))
                    else:  # no loss depends on it
                        tensors.append(wrap(np.zeros_like(feed[stage.taken_names[symbol]])))
                self.messages.send(GRADIENT, source, 0, tensors)

    def _shared_results(self, values: dict[str, Any], fetched: Sequence[Sequence[Any]]) -> dict[Symbol, Any]:
        """What is fetched, on all stages; with it goes what the stages have stored."""
        stage = self.stage
        joined = [_joined(s, [parts[i] for parts in fetched]) for i, s in enumerate(stage.fetched)]
        stored = [to_numpy(to_array(values[name])) for name in stage.writes]
        message = {
            "fetched": [wrap(one) for one in joined],
            "places": [self.fetches.index(symbol) for symbol in stage.fetched],
            "stored": {name: wrap(one) for name, one in zip(stage.writes, stored, strict=True)},
        }
        results = dict(zip(stage.fetched, joined, strict=True))
        others = [i for i in range(self.messages.sizes.stages) if i != stage.index]
        for other in others:
            self.messages.send(_RESULTS, other, 0, message)
        for other in others:
            arrived = self.messages.receive(_RESULTS, other, 0, 0)
            for place, tensor in zip(arrived["places"], arrived["fetched"], strict=True):
                results[self.fetches[place]] = to_numpy(tensor._value)
            for name, tensor in arrived["stored"].items():
                values[name] = to_array(tensor._value)
        return results

    def _gradients(self, values: dict[str, Any], sums: dict[int, Any]) -> list[Any]:
        """The gradients of the batch, zeros for Parameters of other stages."""
        factor = self.messages.sizes.stages / self.steps
        found = []
        with eager_mode():
            for position, symbol in zip(self.positions, self.gradients, strict=True):
                if position in sums:
                    found.append(computed_array(sums[position] * factor))
                else:
                    found.append(np.zeros(symbol.shape, symbol.dtype))
        return found


def stage_group(program: Program, gradients: Sequence[Symbol], group: Any) -> Any:
    """The Group of the processes that have the stages of a program; other such groups have other batches.
    All processes call it. group: Group of all processes; None for a process alone, which has all stages.

    Raises:
        ValueError: the number of stages does not divide that of the processes.
    """
    if group is None:
        return _Alone()
    targets = _only_gradient(gradients).targets
    count = 1 + max(_stages_of(program.pruned(targets)).values(), default=0)
    if group.nranks % count:
        raise ValueError(
            f"fleet.distributed_optimizer: strategy.pipeline: the program has {count} stages of "
            f"device_guard; their number must divide that of the processes, {group.nranks}"
        )
    if count == group.nranks:
        return group
    return own_group([group.ranks[i : i + count] for i in range(0, group.nranks, count)])


def _only_gradient(gradients: Sequence[Symbol]) -> Gradient:
    """The operation that makes all gradients."""
    made_by = list(dict.fromkeys(symbol.op for symbol in gradients))
    if len(made_by) != 1 or not isinstance(made_by[0], Gradient) or made_by[0].ends:
        raise NotImplementedError(
            "fleet.distributed_optimizer: strategy.pipeline with several losses or with no_grad_set; add the "
            "losses, and set stop_gradient"
        )
    return made_by[0]


def _joined(symbol: Symbol, parts: Sequence[np.ndarray]) -> np.ndarray:
    """The value for the batch of those for micro-batches: rows together, or the mean of single numbers."""
    # A whole number, such as a count, has no mean.
    if symbol.size == 1 and symbol.dtype.kind in INEXACT:
        return np.mean(np.stack(parts), 0, dtype=np.float64).astype(parts[0].dtype)
    if symbol.shape and symbol.shape[0] == -1:
        return np.concatenate(parts)
    raise ValueError(
        f"Executor.run: fetch_list: {symbol.name}: {symbol.dtype.name}{list(symbol.shape)} in a pipeline; "
        "fetch floating numbers, which are averaged over micro-batches, or values with a first length of -1"
    )


__all__ = ["StagedRun", "check_pipeline", "stage_group"]
