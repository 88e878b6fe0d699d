"""Branches and loops of a static Program.

Each branch and body is recorded into a block of its own, as a Region of converted code is. The whole is one
operation.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.trace import is_tensor
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.tensors.held_values import element_count, held_value, numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.control_flow.checkpointed_while import Loop
from paddle_jax._program.control_flow.cond import Output, select
from paddle_jax._program.control_flow.region import Pick, Region
from paddle_jax._program.control_flow.while_loop import repeat
from paddle_jax._program.evaluate import evaluate, value_of
from paddle_jax._program.operation import Operation
from paddle_jax._program.shape_inference import Inferred
from paddle_jax._program.variable import Variable


class Block:
    """Operations that run as a part of another one.

    Attributes:
        ops: list of Operations.
        inputs: list of the Symbols of its inputs.
        results: list of the Symbols of its results.
    """

    def __init__(self) -> None:
        self.ops: list[Operation] = []
        self.inputs: list[Symbol] = []
        self.results: list[Symbol] = []

    def outside(self) -> list[Symbol]:
        """Symbols that it takes from outside."""
        own = {*self.inputs, *[o for op in self.ops for o in op.outputs]}
        used = [*[s for op in self.ops for s in op.inputs], *self.results]
        # A constant has its value with it; all else has to come in as an operand.
        return [s for s in dict.fromkeys(used) if s not in own and s.kind != "constant"]

    def run(
        self, outside: Sequence[Symbol], values: Sequence[Any], inputs: Sequence[Any] = ()
    ) -> dict[Symbol, Any]:
        """The arrays of all Symbols, by Symbol."""
        env = dict(zip(outside, values, strict=True))
        env.update(zip(self.inputs, inputs, strict=True))
        evaluate(self.ops, env)
        return env

    def values(
        self, outside: Sequence[Symbol], values: Sequence[Any], inputs: Sequence[Any] = ()
    ) -> tuple[jax.Array, ...]:
        """The arrays of the results."""
        env = self.run(outside, values, inputs)
        return tuple([jnp.asarray(value_of(s, env)) for s in self.results])

    @property
    def host(self) -> bool:
        """Whether an operation needs values on the host."""
        return any(op.host for op in self.ops)


def branch(pred: Tensor, true_fn: Callable[[], Any] | None, false_fn: Callable[[], Any] | None) -> Any:
    """cond for a Variable."""
    with _paddle_errors("cond", structure=ValueError, type=TypeError, dtype=RuntimeError):
        # Codes are numbered by the condition: 0 for False, 1 for True.
        return select(pred, [false_fn or _nothing, true_fn or _nothing], explicit=True)


def loop(test: Callable[..., Any], body: Callable[..., Any], state: Sequence[Any]) -> list[Any]:
    """while_loop for Variables; returns the last state, a list."""
    names = [f"loop variable {i}" for i in range(len(state))]
    with _paddle_errors("while_loop", structure=ValueError, type=ValueError, dtype=ValueError):
        return repeat(
            lambda values: _checked_answer(test(*values)),
            lambda values, _: _checked_step(body(*values), names),
            state,
            names,
            explicit=True,
        )


def _nothing() -> None:
    return None


@contextlib.contextmanager
def _paddle_errors(where: str, **classes: type[Exception]) -> Iterator[None]:
    """Refusals as the exceptions that Paddle raises."""
    try:
        yield
    # The checks are those of converted code; each kind of mismatch has an exception of its own in Paddle.
    except Unsupported as error:
        raise classes.get(getattr(error, "kind", ""), RuntimeError)(f"{where}: {error}") from error


def _checked_answer(answer: Any) -> Tensor:
    """What the test of a loop gives, checked."""
    if not is_tensor(answer):
        raise TypeError(
            f"while_loop: cond returns a {type(answer).__name__}; it must return one Variable of "
            "dtype bool and one element"
        )
    if numpy_dtype(answer) != np.bool_:
        raise TypeError(f"while_loop: cond returns dtype {numpy_dtype(answer).name}; it must be bool")
    if element_count(answer) != 1:
        raise TypeError(f"while_loop: cond returns shape {list(answer.shape)}; it must have one element")
    return answer


def _checked_step(out: Any, names: Sequence[str]) -> list[Any]:
    """What the body of a loop gives, a list of as many values as there are loop variables."""
    # A body with one loop variable may give it alone.
    out = list(out) if isinstance(out, tuple | list) else [out]
    if len(out) != len(names):
        raise ValueError(
            "while_loop: body in while_loop should return the same arity (length and structure) "
            f"as loop_vars: got {len(out)} values, {len(names)} are needed"
        )
    return out


def _gradient_stops(blocks: Sequence[Block], symbols: Sequence[Symbol]) -> tuple[bool, ...]:
    """For each Symbol from outside whether no gradient flows to it: every use of it in the blocks is one
    where gradients end."""
    with_gradient: set[Symbol] = set()
    for block in blocks:
        for op in block.ops:
            with_gradient.update(s for s, stop in zip(op.inputs, op.stops, strict=True) if not stop)
        with_gradient.update(block.results)
    # Gradients end at an operand that all uses end at, such as an index; then no cotangent is computed for
    # it.
    return tuple([s not in with_gradient for s in symbols])


def _picked_symbol(region: Region, pick: Pick, shape: Sequence[int], dtype: Any) -> Symbol:
    """The Symbol of one result: of a Leaf, or of a number."""
    if not isinstance(pick, tuple):
        return region.results[pick]
    # A number made of lengths is a constant that a file writes as an expression.
    if is_length(pick[0]):
        return held_value(local.ctx.frame.tensor_of(pick[0], dtype))
    # The number fills the shape of the other branch's Tensor, which has one element.
    number = np.full([1 if n == -1 else n for n in shape], pick[0], dtype)
    return held_value(local.ctx.frame.constant(number))


def branched(index: Tensor, regions: Sequence[Region], outputs: Sequence[Output]) -> list[Variable]:
    """Adds the operation of a branch of two Regions: Variables, one for each Output."""
    if len(regions) != 2:
        raise Unsupported("a switch over a tensor cannot be recorded; use paddle.static.nn.switch_case")
    # `select` numbers its codes by the condition: 0 for False, 1 for True.
    no, yes = (region.block for region in regions)
    for k, block in enumerate((no, yes)):
        block.results = [_picked_symbol(regions[k], out.picks[k], out.shape, out.dtype) for out in outputs]
    pairs = list(zip(yes.results, no.results, strict=True))
    # Then the shape of a result depends on the branch that is taken, and the host has to know which.
    have_other_shapes = any(a.avals != b.avals for a, b in pairs)
    # Both branches get the operands of both, each once, in a fixed order.
    outside = list(dict.fromkeys([*yes.outside(), *no.outside()]))
    kernel = _kernel("cond", lambda yes, no: _branching(yes, no, outside), yes, no)
    recorder = local.ctx.frame
    avals = [recorder.branch_avals(index, a.avals, b.avals) for a, b in pairs]
    inferred = Inferred(tuple, avals, have_other_shapes or yes.host or no.host)
    return recorder.add(
        kernel,
        [recorder.symbol(index), *outside],
        (True, *_gradient_stops((yes, no), outside)),
        inferred,
        [out.stop_gradient for out in outputs],
    )


def _kernel(name: str, function_of: Callable[..., Any], *blocks: Block) -> Kernel:
    """The Kernel of an operation with blocks: `function_of(*blocks)` is its function."""
    # The attributes let `with_blocks` make the function again of other blocks.
    fn: Any = function_of(*blocks)
    fn.blocks = blocks
    fn.function_of = function_of
    return Kernel(name, fn)


def with_blocks(kernel: Kernel, change: Callable[[Block], Block]) -> Kernel:
    """The same Kernel with its blocks changed; they take in and give the same Symbols or others for them."""
    fn: Any = kernel.fn
    return _kernel(kernel.name, fn.function_of, *map(change, fn.blocks))


def _branching(yes: Block, no: Block, outside: Sequence[Symbol]) -> Callable[..., Any]:
    """The function of a cond: (pred, *outside) -> results."""

    def side(block: Block) -> Callable[..., tuple[jax.Array, ...]]:
        return lambda *values: block.values(outside, values)

    # The condition may have an axis of length 1, as comparisons of Tensors of shape [1] give it.
    def fn(pred: Any, *values: Any) -> Any:
        pred = jnp.asarray(pred)
        if pred.size == 1:
            pred = pred.reshape(()).astype(bool)
        else:
            pred = jnp.all(pred)
        # Outside of a trace only the branch that was chosen has to run.
        if not isinstance(pred, jax.core.Tracer):
            return side(yes if pred else no)(*values)
        return jax.lax.cond(pred, side(yes), side(no), *map(jnp.asarray, values))

    return fn


def looped(
    tensors: Sequence[Tensor], stops: Sequence[bool], tested: Region, step: Region, picks: Sequence[Pick]
) -> list[Variable]:
    """Adds the operation of a loop of two Regions.

    Args:
        tensors: what is carried and the Tensors that are changed in place, with their values before.
        stops: for each of them whether no gradient flows through it.
        tested: Region of the test.
        step: Region of a step.
        picks: where the step has their next values.
    Returns:
        List of Variables with the last values.
    """
    recorder = local.ctx.frame
    starts = [recorder.symbol(t) for t in tensors]
    start_stops = [t.stop_gradient for t in tensors]
    test_block = tested.block
    step_block = step.block
    test_block.results = [tested.results[tested.value.index]]
    step_block.results = [
        _picked_symbol(step, pick, plain_shape(t), numpy_dtype(t))
        for pick, t in zip(picks, tensors, strict=True)
    ]
    # The inputs of the block have the lengths that vary from step to step as open ones.
    avals = [s.avals for s in step_block.inputs]
    columns = zip(starts, avals, step_block.results, strict=True)
    # The program is run outside of a trace then, as XLA needs one shape for all steps.
    have_other_shapes = any(start.avals != pair or pair != last.avals for start, pair, last in columns)
    outside = list(dict.fromkeys([*test_block.outside(), *step_block.outside()]))
    outside_stops = _gradient_stops((test_block, step_block), outside)

    def function_of(test: Block, step: Block) -> Callable[..., Any]:
        # With other blocks (`with_blocks`) the carried values and gradients are the same.
        carried = _have_gradient(starts, stops)
        return _looping(test, step, outside, carried, _have_gradient(outside, outside_stops))

    kernel = _kernel("while", function_of, test_block, step_block)
    inferred = Inferred(tuple, avals, have_other_shapes or test_block.host or step_block.host)
    return recorder.add(kernel, [*starts, *outside], (*start_stops, *outside_stops), inferred, stops)


def _have_gradient(symbols: Sequence[Symbol], stops: Sequence[bool]) -> list[bool]:
    """For each Symbol whether gradients flow to it."""
    return [s.dtype.kind in INEXACT and not stop for s, stop in zip(symbols, stops, strict=True)]


def _looping(
    test_block: Block,
    step_block: Block,
    outside: Sequence[Symbol],
    carried_gradients: list[bool],
    outside_gradients: list[bool],
) -> Callable[..., Any]:
    """The function of a while: (*state, *outside) -> state."""
    count = len(carried_gradients)

    def test(_: Any, carry: Any, fixed: Any) -> Any:
        return test_block.values(outside, fixed, carry)[0].reshape(())

    def advance(_: Any, carry: Any, fixed: Any) -> Any:
        return step_block.values(outside, fixed, carry)

    compiled_loop = Loop(test, advance, carried_gradients, outside_gradients)

    def fn(*values: Any) -> Any:
        arrays = tuple(map(jnp.asarray, values))
        carry = arrays[:count]
        fixed = arrays[count:]
        is_traced = any(isinstance(v, jax.core.Tracer) for v in arrays)
        goes_on = None if is_traced else test(0, carry, fixed)
        # of known values, too, operations give traced ones while a program is compiled
        if is_traced or isinstance(goes_on, jax.core.Tracer):
            return tuple(compiled_loop.reversible(carry, fixed))
        # Outside of a trace: a loop of Python, in which each step may have shapes of its own.
        while goes_on:
            carry = advance(0, carry, fixed)
            goes_on = test(0, carry, fixed)
        return carry

    return fn


def record_again(
    op: Operation, operands: Sequence[Tensor], record_block: Callable[[Block, Sequence[Tensor]], list[Any]]
) -> Any:
    """Records the operation of a branch or loop once more; gives its results. record_block: function of a
    block and values of its inputs that records its operations and gives the results."""
    fn: Any = op.kernel.fn
    if op.name == "cond":
        # `select` numbers the codes by the condition, so the block for False comes first.
        yes, no = fn.blocks
        codes = [lambda: record_block(no, []), lambda: record_block(yes, [])]
        return select(operands[0], codes, explicit=True)
    test_block, step_block = fn.blocks
    state = operands[: len(step_block.inputs)]
    return repeat(
        lambda values: record_block(test_block, values)[0],
        lambda values, _: record_block(step_block, values),
        state,
        [op.name] * len(state),
        explicit=True,
    )


__all__ = ["Block", "branch", "branched", "loop", "looped", "record_again", "with_blocks"]
