"""Static programs of several processes: gradients are averaged between the backward part and the update.

`minimize` puts an input of the program in the place of each gradient. A run computes the gradients, averages
them over the processes, and feeds the means to the update. Both parts are compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tensors.held_values import computed_array, held_symbol, numpy_dtype
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax._program.composites import eager_mode
from paddle_jax._program.program import Program, program_guard
from paddle_jax._program.program_hook import ProgramHook
from paddle_jax._program.recorder import data
from paddle_jax.distributed.data_parallel import averaged, same_everywhere
from paddle_jax.distributed.fleet.layers.mpu.static_batch_norm import synchronize_batch_norm
from paddle_jax.distributed.fleet.static_compression import Compression, compression
from paddle_jax.distributed.fleet.static_local_steps import LocalSteps, local_steps
from paddle_jax.distributed.fleet.static_pipeline import StagedRun, check_pipeline, stage_group
from paddle_jax.distributed.fleet.static_sharding import UpdateShares, sharing_group
from paddle_jax.incubate.optimizer.lars_momentum import LarsMomentumOptimizer
from paddle_jax.optimizer import Adam, Lamb, Momentum, Optimizer
from paddle_jax.static.amp.decorator import OptimizerWithMixedPrecision, decorate
from paddle_jax.static.amp.fp16_lists import AutoMixedPrecisionLists
from paddle_jax.static.executor import CompiledRun, compiled_run, fetched_symbol

_MIB = 1 << 20
# What no static program can do here, and what to use in its place.
_REFUSED_ANYWHERE = {
    "asp": "paddle.incubate.asp in dynamic mode",
    "qat": "paddle.quantization.QAT in dynamic mode",
    "auto": "the other switches of the strategy, one by one",
    "semi_auto": "paddle.distributed.to_static",
    "auto_search": "paddle.distributed.to_static",
}


class StaticOptimizer:
    """An optimizer whose `minimize` does what a DistributedStrategy says; all else is that of the optimizer.

    Attributes:
        inner: Optimizer, or what mixed precision has put around it.
        base: Optimizer that updates.
        strategy: DistributedStrategy.
        group: Group of the processes, or None in a process alone.
        sharing_group: Group of the processes that share updates, or None where each updates all Parameters.
        local_steps: LocalSteps where processes average Parameters in place of gradients, else None.
        compression: Compression where processes exchange parts of their gradients, else None.
    """

    def __init__(self, optimizer: Any, strategy: Any, group: Any) -> None:
        self.strategy = strategy
        self.group = group
        self.sharing_group: Any = None
        for name, other in _REFUSED_ANYWHERE.items():
            if getattr(strategy, name):
                raise NotImplementedError(
                    f"fleet.distributed_optimizer: strategy: {name} in a static program; use {other}"
                )
        _check_recompute(strategy)
        if strategy.pipeline:
            check_pipeline(strategy)
        self.compression: Compression | None = None
        if group is not None:
            self.sharing_group = sharing_group(strategy, group)
            self.compression = compression(strategy, optimizer, group)
        chosen = _chosen(optimizer, strategy)
        if self.compression is not None:
            chosen = self.compression.optimizer
        self.inner: Any = _in_low_precision(chosen, strategy)
        # The one that updates, inside of mixed precision that the user has put around it.
        self.base: Any = chosen
        while isinstance(self.base, OptimizerWithMixedPrecision):
            self.base = self.base._optimizer
        self.local_steps: LocalSteps | None = None
        if group is not None:
            self.local_steps = local_steps(strategy, self.base, group)
        if self.sharing_group is not None and not isinstance(self.base, Optimizer):
            raise NotImplementedError(
                f"fleet.distributed_optimizer: strategy: sharding with {type(self.base).__name__}; give an "
                "optimizer of paddle.optimizer"
            )

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # while it is being made or copied
            raise AttributeError(name)
        return getattr(self.inner, name)

    def minimize(
        self, loss: Any, startup_program: Any = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Adds gradients, their mean over the processes, and updates to the program of the loss.

        Returns:
            (operations of the update, pairs of Parameter and gradient).
        """
        program = held_symbol(loss).program
        inner = self.inner
        if self.strategy.tensor_parallel:
            _check_parts(program, self.strategy.tensor_parallel_configs["tensor_parallel_degree"])
        if self.strategy.sync_batch_norm and self.group is not None:
            synchronize_batch_norm(program)
        pairs = self._backward(loss, startup_program, parameter_list, no_grad_set)
        # A second loss of the same program shares the hook.
        if program.hook is None:
            merging = self.strategy.gradient_merge_configs if self.strategy.gradient_merge else {}
            program.hook = AveragedProgram(
                self.group,
                self.strategy.fuse_grad_size_in_MB * _MIB,
                merging.get("k_steps", 1),
                merging.get("avg", True),
                UpdateShares(self.sharing_group) if self.sharing_group is not None else None,
                self.strategy.fp16_allreduce,
            )
            if self.local_steps is not None:
                self.local_steps.declare(program, startup_program)
                program.hook.local_steps = self.local_steps
                program.hook.observed = [loss]
            if self.strategy.pipeline:
                program.hook.micro_batches = self.strategy.pipeline_configs["accumulate_steps"]
            if self.compression is not None:
                self.compression.declare(program, startup_program)
                program.hook.compression = self.compression
        # The updates read the averages in place of the gradients.
        with program_guard(program, startup_program):
            averages = program.hook.add(pairs)
            if program.hook.compression is not None:
                program.hook.compression.add(program, startup_program, pairs)
            if program.hook.shares is None:
                operations = inner.apply_gradients(averages)
                if program.hook.local_steps is not None:
                    program.hook.local_steps.add(program, pairs)
                return operations, averages
            return self._own_updates(program.hook.shares, program, averages), averages

    def _backward(
        self, loss: Any, startup_program: Any, parameter_list: Any, no_grad_set: Any
    ) -> list[tuple[Any, Any]]:
        """Adds gradients, which compute again what is between the checkpoints of the strategy."""
        if self.strategy.recompute:
            self.base._checkpoints = self.strategy.recompute_configs["checkpoints"]
        try:
            return self.inner.backward(loss, startup_program, parameter_list, no_grad_set)
        finally:
            # The optimizer may serve other programs as well.
            self.base.__dict__.pop("_checkpoints", None)

    def _own_updates(
        self, shares: UpdateShares, program: Program, averages: list[tuple[Any, Any]]
    ) -> list[Any]:
        """The updates of the Parameters that this process updates."""
        before = set(program.vars)
        self.base._updated_names = shares.deal_out(averages)
        try:
            operations = self.inner.apply_gradients(averages)
        finally:
            # The optimizer may serve other programs as well.
            self.base.__dict__.pop("_updated_names", None)
        shares.note_states(program, before)
        return operations


def _check_recompute(strategy: Any) -> None:
    """Refuses settings of `recompute_configs` that ask for more than computing again."""
    configs = strategy.recompute_configs
    asked = [name for name in ("enable_offload", "enable_tuning", "refined_ops_patterns") if configs[name]]
    if strategy.recompute and asked:
        raise NotImplementedError(
            f"fleet.distributed_optimizer: strategy.recompute_configs: got {', '.join(asked)}; checkpoints "
            "stay on the device; leave it out"
        )


def _check_parts(program: Program, degree: int) -> None:
    """Refuses a degree of tensor parallelism that is not the number of parts of the program's weights."""
    found = 1 if program.process_grid is None else program.process_grid.part_count
    if degree != found:
        raise ValueError(
            f"fleet.distributed_optimizer: strategy: tensor_parallel_degree {degree}; the program has its "
            f"weights in {found} parts; call paddle.distributed.split with num_partitions={degree}"
        )


def _chosen(optimizer: Any, strategy: Any) -> Any:
    """The optimizer that a strategy puts in the place of the user's."""
    # Subclasses have a rule of their own, which LAMB would not keep.
    if strategy.lamb and type(optimizer) is Adam:
        configs = strategy.lamb_configs
        excluded = configs["exclude_from_weight_decay"]
        return Lamb(
            learning_rate=optimizer._learning_rate,
            lamb_weight_decay=configs["lamb_weight_decay"],
            beta1=optimizer._beta1,
            beta2=optimizer._beta2,
            epsilon=optimizer._epsilon,
            parameters=optimizer._given_parameters(),
            grad_clip=optimizer._grad_clip,
            exclude_from_weight_decay_fn=lambda param: any(part in param.name for part in excluded),
        )
    if strategy.lars and type(optimizer) is Momentum:
        configs = strategy.lars_configs
        return LarsMomentumOptimizer(
            optimizer._learning_rate,
            optimizer._momentum,
            lars_coeff=configs["lars_coeff"],
            lars_weight_decay=configs["lars_weight_decay"],
            parameter_list=optimizer._given_parameters(),
            grad_clip=optimizer._grad_clip,
            exclude_from_weight_decay=configs["exclude_from_weight_decay"],
            epsilon=configs["epsilon"],
        )
    return optimizer


def _in_low_precision(optimizer: Any, strategy: Any) -> Any:
    """The optimizer with mixed precision round it, where a strategy wants that."""
    if not strategy.amp:
        return optimizer
    configs = strategy.amp_configs
    is_bfloat = configs["use_pure_bf16"]
    return decorate(
        optimizer,
        AutoMixedPrecisionLists(
            custom_white_list=set(configs["custom_white_list"]) or None,
            custom_black_list=set(configs["custom_black_list"]) or None,
            dtype="bfloat16" if is_bfloat else "float16",
        ),
        level="O2" if is_bfloat or configs["use_pure_fp16"] else "O1",
        dtype="bfloat16" if is_bfloat else "float16",
        init_loss_scaling=configs["init_loss_scaling"],
        incr_every_n_steps=configs["incr_every_n_steps"],
        decr_every_n_nan_or_inf=configs["decr_every_n_nan_or_inf"],
        incr_ratio=configs["incr_ratio"],
        decr_ratio=configs["decr_ratio"],
        # bfloat16 has the range of float32, so the loss needs no scale.
        use_dynamic_loss_scaling=configs["use_dynamic_loss_scaling"] and not is_bfloat,
        use_amp_guard=configs["use_fp16_guard"] and configs["use_pure_fp16"],
    )


class Parts(NamedTuple):
    """A run in two parts.

    Attributes:
        early: CompiledRun up to the gradients.
        late: CompiledRun of the update.
        early_items: positions in the list of fetches that the first part computes.
        late_items: those that the second part computes.
        stored_items: dict from positions among these to the names of the Variables that are fetched.
    """

    early: CompiledRun
    late: CompiledRun
    early_items: list[int]
    late_items: list[int]
    stored_items: dict[int, str]


class AveragedProgram(ProgramHook):
    """What a program does between its gradients and its updates.

    Attributes:
        group: Group over which gradients are averaged; None in a process alone.
        size: bytes that travel together.
        every: number of runs whose gradients make one update.
        mean: whether such gradients are averaged; else they are added.
        gradients: list of the Variables of the gradients.
        inputs: list of the Variables of the inputs in their place.
        sums: list of the gradients of the runs since the last update; empty after an update.
        count: number of these runs.
        part_names: set of the names of Parameters of which each process has a part.
        part_inputs: list of the positions of their gradients.
        process_grid: ProcessGrid of the program, or None.
        shares: UpdateShares, or None where each process updates all Parameters.
        in_half: whether gradients travel in float16.
        local_steps: LocalSteps, or None where gradients are averaged.
        observed: list of the Variables that `local_steps` wants to know in each run.
        compression: Compression, or None where gradients travel whole.
        param_names: list of the names of the Parameters, in the order of `inputs`.
        micro_batches: number of the parts of a batch in a pipeline; 0 where there is none.
        stage_group: Group of the processes of a pipeline, from the first run on.
        shared: whether all processes have the same parameters.
    """

    purpose = "averages gradients over processes or runs"

    def __init__(
        self,
        group: Any,
        size: int,
        every: int,
        mean: bool,
        shares: UpdateShares | None = None,
        in_half: bool = False,
    ) -> None:
        self.group = group
        self.size = size
        self.every = every
        self.mean = mean
        self.gradients: list[Any] = []
        self.inputs: list[Any] = []
        self.sums: list[Any] = []
        self.count: int = 0
        self.part_names: set[str] = set()
        self.part_inputs: list[int] = []
        self.process_grid: Any = None
        self.shares = shares
        self.in_half = in_half
        self.local_steps: LocalSteps | None = None
        self.observed: list[Any] = []
        self.compression: Compression | None = None
        self.param_names: list[str] = []
        self.micro_batches: int = 0
        self.stage_group: Any = None
        self.shared: bool = group is None

    def copied(self, for_test: bool) -> AveragedProgram | None:
        """For a copy of the program; none in one for tests, which does not train."""
        # A test neither averages nor updates.
        if for_test:
            return None
        # Sums and counts are not copied: the copy begins a round of its own.
        copied = AveragedProgram(self.group, self.size, self.every, self.mean, self.shares, self.in_half)
        copied.local_steps = self.local_steps
        copied.observed = list(self.observed)
        copied.compression = self.compression
        copied.param_names = list(self.param_names)
        copied.micro_batches = self.micro_batches
        copied.gradients = list(self.gradients)
        copied.inputs = list(self.inputs)
        copied.part_names = set(self.part_names)
        copied.part_inputs = list(self.part_inputs)
        return copied

    def add(self, pairs: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """Declares an input of the program that is recorded for each gradient; returns pairs of Parameter
        and input."""
        averages = []
        for param, gradient in pairs:
            name = f"{gradient.name}@AVERAGE"
            if any(one.name == name for one in self.inputs):  # of another loss
                name = f"{name}_{len(self.inputs)}"
            declared = data(name, list(gradient.shape), str(numpy_dtype(gradient)))
            self.gradients.append(gradient)
            self.inputs.append(declared)
            self.param_names.append(param.name)
            averages.append((param, declared))
            # Parts of a weight are averaged among the processes that have the same part.
            if getattr(param, "is_distributed", False):
                self.part_names.add(param.name)
                self.part_inputs.append(len(self.inputs) - 1)
        return averages

    def training_inputs(self) -> list[Symbol]:
        """The inputs in the place of gradients."""
        return [held_symbol(one) for one in self.inputs]

    # running ------------------------------------------------------------------------------------------------

    def run(
        self, program: Program, values: dict[str, Any], feed: Any, fetch_list: list[Any], use_prune: bool
    ) -> list[Any]:
        """Runs the program; returns what is fetched."""
        symbols = [fetched_symbol(program, item) for item in fetch_list]
        # Values that are fetched may need one of both parts only.
        if use_prune:
            return self._run_pruned(program, values, feed, fetch_list, symbols)
        parts = self._parts(program, symbols)
        self._share_parameters(program, values)
        if self.micro_batches:
            out = self._staged(program, parts, symbols)(program, values, feed)
        else:
            out = parts.early(values, feed)
        # In the results of the first part what is fetched comes first, and what is observed last.
        fetched_count = len(parts.early_items)
        gradients = self._merged(out[fetched_count : fetched_count + len(self.gradients)], values)
        # `_merged` counts the runs: at 0 a round is complete.
        due = self.count == 0
        results: list[Any] = [None] * len(fetch_list)
        for i, value in zip(
            parts.early_items, parts.early.to_numpy(out[: len(parts.early_items)]), strict=True
        ):
            results[i] = value
        if due or parts.late_items:
            # Between two updates the second part computes, but writes nothing.
            late = parts.late if due else self._late_run(program, parts, symbols)
            late_feed = {one.name: gradient for one, gradient in zip(self.inputs, gradients, strict=True)}
            for i, value in zip(parts.late_items, late.to_numpy(late(values, late_feed)), strict=True):
                results[i] = value
        if due and self.shares is not None:
            self.shares.exchange(values, self.size)
        if self.local_steps is not None:
            self.local_steps.after_update(values, out[len(out) - len(self.observed)], self.size)
        # What is stored counts: between two updates nothing is, and another process may have updated it.
        for i, name in parts.stored_items.items():
            results[i] = to_numpy(to_array(values[name]))
        return results

    def _run_pruned(
        self,
        program: Program,
        values: dict[str, Any],
        feed: Any,
        fetch_list: list[Any],
        symbols: list[Symbol],
    ) -> list[Any]:
        """Computes what is fetched, and trains nothing. What an update would write is as it is in the Scope.

        Raises:
            ValueError: something else is fetched that depends on averaged gradients.
        """
        late_symbols = self._after_average(program)
        names = {symbol: name for name, symbol in program.writes.items() if symbol in late_symbols}
        early_items = []
        for item, symbol in zip(fetch_list, symbols, strict=True):
            if symbol not in late_symbols:
                early_items.append(item)
            elif symbol not in names:
                raise ValueError(
                    f"Executor.run: fetch_list: {symbol.name} depends on averaged gradients, which a run "
                    "with use_prune does not compute; leave use_prune out"
                )
        entry = compiled_run(program, early_items, True)
        computed = iter(entry.to_numpy(entry(values, feed)))
        return [to_numpy(values[names[s]]) if s in names else next(computed) for s in symbols]

    def _parts(self, program: Program, symbols: list[Symbol]) -> Parts:
        """The two parts of a run that fetches Symbols; kept with the other compiled runs of the program."""
        # Which values are fetched decides the programs.
        key = ("averaged", *symbols)
        parts = program.compiled_runs.get(key)
        if parts is None:
            late_symbols = self._after_average(program)
            # A Parameter that is fetched has its new value, as in a program of one process.
            is_late = [symbol.kind == "variable" or symbol in late_symbols for symbol in symbols]
            early_items = [i for i, late in enumerate(is_late) if not late]
            late_items = [i for i, late in enumerate(is_late) if late]
            writes = program.writes
            names = {symbol: name for name, symbol in writes.items() if symbol in late_symbols}
            stored_items = {}
            for i in late_items:
                if symbols[i] in names or symbols[i].kind == "variable":
                    stored_items[i] = names.get(symbols[i], symbols[i].name)
            late_writes = {name: symbol for symbol, name in names.items()}
            early_writes = {name: symbol for name, symbol in writes.items() if name not in late_writes}
            wanted = [symbols[i] for i in early_items]
            wanted += [held_symbol(one) for one in (*self.gradients, *self.observed)]
            # Early: what does not depend on averages. Late: updates, from averages that are fed.
            parts = Parts(
                CompiledRun(program, wanted, False, early_writes),
                CompiledRun(program, [symbols[i] for i in late_items], True, late_writes),
                early_items,
                late_items,
                stored_items,
            )
            program.compiled_runs[key] = parts
        return parts

    def _staged(self, program: Program, parts: Parts, symbols: list[Symbol]) -> StagedRun:
        """The stages that compute the first part."""
        key = ("staged", *symbols)
        staged = program.compiled_runs.get(key)
        if staged is None:
            gradients = [held_symbol(one) for one in self.gradients]
            if self.stage_group is None:
                self.stage_group = stage_group(program, gradients, self.group)
            fetches = parts.early.fetches[: len(parts.early_items)]
            writes = {name: program.writes[name] for name in parts.early.written}
            staged = StagedRun(program, self.stage_group, self.micro_batches, fetches, gradients, writes)
            program.compiled_runs[key] = staged
        return staged

    def _late_run(self, program: Program, parts: Parts, symbols: list[Symbol]) -> CompiledRun:
        """The second part without new values, for a run between two updates."""
        key = ("averaged, no update", *symbols)
        entry = program.compiled_runs.get(key)
        if entry is None:
            entry = CompiledRun(program, [symbols[i] for i in parts.late_items], True)
            program.compiled_runs[key] = entry
        return entry

    def _after_average(self, program: Program) -> set[Symbol]:
        """The Symbols that depend on averaged gradients."""
        found = {held_symbol(one) for one in self.inputs}
        # Operations are in the order of the program, so one pass finds all that depends on them.
        for operation in program.ops:
            if not found.isdisjoint(operation.inputs):
                found.update(operation.outputs)
        return found

    def _merged(self, gradients: list[Any], values: dict[str, Any]) -> list[Any]:
        """The gradients for an update: means over the processes, and over the runs since the last one."""
        # Gradients of several runs are added up for one update.
        self.count = (self.count + 1) % self.every
        if self.every > 1:
            with eager_mode():
                if self.sums:
                    gradients = [a + b for a, b in zip(self.sums, gradients, strict=True)]
                # The last run of a round begins a new sum.
                self.sums = [] if self.count == 0 else gradients
                if self.count:
                    return gradients
                if self.mean:
                    gradients = [gradient / self.every for gradient in gradients]
        if self.group is None or self.local_steps is not None:
            return gradients
        with eager_mode():
            if self.compression is not None:
                return self._compressed(self.compression, gradients, values)
            tensors = [wrap(gradient) for gradient in gradients]
            for group, own in self._by_group(tensors, [i in self.part_inputs for i in range(len(tensors))]):
                averaged(own, group, self.size, self.in_half)
            return [computed_array(tensor) for tensor in tensors]

    def _compressed(
        self, compression: Compression, gradients: list[Any], values: dict[str, Any]
    ) -> list[Any]:
        """The means of gradients of which large ones travel in parts."""
        found, are_means = compression.reduced(self.param_names, gradients, values)
        tensors = [wrap(gradient) for gradient in found]
        whole = [tensor for i, tensor in enumerate(tensors) if i not in are_means]
        averaged(whole, self.group, self.size)
        return [computed_array(tensor) for tensor in tensors]

    def _by_group(self, tensors: list[Any], are_parts: list[bool]) -> list[tuple[Any, list[Any]]]:
        """The groups in which Tensors are exchanged: parts among the processes that have the same part."""
        pairs = list(zip(tensors, are_parts, strict=True))
        found = [(self.group, [tensor for tensor, is_part in pairs if not is_part])]
        same_part = None if self.process_grid is None else self.process_grid.same_part
        if same_part is not None:
            found.append((same_part, [tensor for tensor, is_part in pairs if is_part]))
        return found

    def _are_of_parts(self, program: Program, names: Sequence[str]) -> list[bool]:
        """Whether Variables are parts of Parameters, or states of the optimizer for them."""
        owners = [param.name for param in program.all_parameters()]

        def owner_of(name: str) -> str:
            if name in owners:
                return name
            # states are called by the Parameter and what they are
            # The longest name wins, as one may be the beginning of another.
            return max([owner for owner in owners if name.startswith(f"{owner}_")], key=len, default="")

        return [owner_of(name) in self.part_names for name in names]

    def _share_parameters(self, program: Program, values: dict[str, Any]) -> None:
        """Gives all processes the parameters of the first one, before the first update. With them go
        buffers, and states of the optimizer: float32 copies of parameters are among them."""
        if self.shared:
            return
        names = [name for name in program.vars if name not in program.learning_rates]
        before: dict[str, Any] = {}
        if self.shares is not None:
            # Each process has states of other Parameters.
            names = [name for name in names if name not in self.shares.state_names]
        if self.compression is not None:
            names = [name for name in names if name not in self.compression.own_names()]
        if any(values.get(name) is None for name in names):
            return  # the run says which one has no value
        if self.shares is not None:
            before = self.shares.copied_values(values)
        self.process_grid: Any = program.process_grid
        with eager_mode():
            tensors = [wrap(to_array(values[name])) for name in names]
            for group, own in self._by_group(tensors, self._are_of_parts(program, names)):
                same_everywhere(own, group, self.size)
            for name, tensor in zip(names, tensors, strict=True):
                values[name] = computed_array(tensor)
        if self.shares is not None:
            self.shares.update_copies(before, values)
        # Once, before the first update.
        self.shared = True


def acts(strategy: Any) -> bool:
    """Whether a strategy changes how a static program trains in a process alone."""
    # Averaging is left out, as a process alone has nothing to average with.
    merges = strategy.gradient_merge and strategy.gradient_merge_configs["k_steps"] > 1
    switches = ("amp", "recompute", "lamb", "lars", *_REFUSED_ANYWHERE)
    in_parts = strategy.pipeline and strategy.pipeline_configs["accumulate_steps"] > 1
    return merges or in_parts or any(getattr(strategy, name) for name in switches)


__all__ = ["StaticOptimizer", "acts"]
