"""Branches and loops of a static Program: each branch and body is recorded into a block of its own, as a
Region of converted code is, and the whole is one operation."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.trace import is_tensor
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._program.control_flow.checkpointed_while import Loop
from paddle_jax._program.control_flow.cond import select
from paddle_jax._program.control_flow.while_loop import repeat
from paddle_jax._program.evaluate import evaluate, value_of
from paddle_jax._program.shape_inference import Inferred


class Block:
    """Operations that run as a part of another one. inputs: Symbols that come in; results: Symbols that
    it gives."""

    def __init__(self):
        self.ops, self.inputs, self.results = [], [], []

    def outside(self):
        """Symbols that it takes from outside."""
        made = {*self.inputs, *[o for op in self.ops for o in op.outputs]}
        used = [*[s for op in self.ops for s in op.inputs], *self.results]
        return [s for s in dict.fromkeys(used) if s not in made and s.kind != "constant"]

    def run(self, outside, values, inputs=()):
        """The arrays of all Symbols, by Symbol."""
        env = dict(zip(outside, values, strict=True))
        env.update(zip(self.inputs, inputs, strict=True))
        evaluate(self.ops, env)
        return env

    def values(self, outside, values, inputs=()):
        """The arrays of the results."""
        env = self.run(outside, values, inputs)
        return tuple([jnp.asarray(value_of(s, env)) for s in self.results])

    @property
    def host(self):
        """Whether an operation needs values on the host."""
        return any(op.host for op in self.ops)


def branch(pred, true_fn, false_fn):
    """cond for a Variable."""
    with _refusals("cond", structure=ValueError, type=TypeError, dtype=RuntimeError):
        return select(pred, [false_fn or _nothing, true_fn or _nothing], explicit=True)


def loop(test, body, state):
    """while_loop for Variables; returns the last state, a list."""
    names = [f"loop variable {i}" for i in range(len(state))]
    with _refusals("while_loop", structure=ValueError, type=ValueError, dtype=ValueError):
        return repeat(
            lambda values: _answer(test(*values)),
            lambda values, _: _stepped(body(*values), names),
            state,
            names,
            explicit=True,
        )


def _nothing():
    return None


@contextlib.contextmanager
def _refusals(where, **classes):
    """Refusals as the exceptions that Paddle raises."""
    try:
        yield
    except Unsupported as error:
        raise classes.get(getattr(error, "kind", None), RuntimeError)(f"{where}: {error}") from error


def _answer(answer):
    """What the test of a loop gives, checked."""
    if not is_tensor(answer):
        raise TypeError(
            f"while_loop: cond returns a {type(answer).__name__}; it must return one Variable of "
            "dtype bool and one element"
        )
    if answer._raw.dtype != np.bool_:
        raise TypeError(f"while_loop: cond returns dtype {answer._raw.dtype.name}; it must be bool")
    if answer._raw.size != 1:
        raise TypeError(f"while_loop: cond returns shape {list(answer.shape)}; it must have one element")
    return answer


def _stepped(out, names):
    """What the body of a loop gives, a list of as many values as there are loop variables."""
    out = list(out) if isinstance(out, tuple | list) else [out]
    if len(out) != len(names):
        raise ValueError(
            "while_loop: body in while_loop should return the same arity (length and structure) "
            f"as loop_vars: got {len(out)} values, {len(names)} are needed"
        )
    return out


def _stops(blocks, symbols):
    """For each Symbol from outside whether no gradient flows to it: every use of it in the blocks is one
    where gradients end."""
    flows = set()
    for block in blocks:
        for op in block.ops:
            flows.update(s for s, stop in zip(op.inputs, op.stops, strict=True) if not stop)
        flows.update(block.results)
    return tuple([s not in flows for s in symbols])


def _chosen(region, pick, shape, dtype):
    """The Symbol of one result: of a Leaf, or of a number."""
    if isinstance(pick, tuple):
        if is_length(pick[0]):
            return local.ctx.frame.tensor_of(pick[0], dtype)._raw
        number = np.full([1 if n == -1 else n for n in shape], pick[0], dtype)
        return local.ctx.frame.constant(number)._raw
    return region.results[pick]


def branched(index, regions, outputs):
    """Adds the operation of a branch of two Regions: Variables, one for each Output."""
    if len(regions) != 2:
        raise Unsupported("a switch over a tensor cannot be recorded; use paddle.static.nn.switch_case")
    no, yes = (region.block for region in regions)
    for k, block in enumerate((no, yes)):
        block.results = [_chosen(regions[k], out.picks[k], out.shape, out.dtype) for out in outputs]
    pairs = list(zip(yes.results, no.results, strict=True))
    uneven = any(a.avals != b.avals for a, b in pairs)
    outside = list(dict.fromkeys([*yes.outside(), *no.outside()]))
    kernel = _kernel("cond", lambda yes, no: _branching(yes, no, outside), yes, no)
    recorder = local.ctx.frame
    avals = [recorder.branch_avals(index, a.avals, b.avals) for a, b in pairs]
    inferred = Inferred(tuple, avals, uneven or yes.host or no.host)
    return recorder.add(
        kernel,
        [recorder.symbol(index), *outside],
        (True, *_stops((yes, no), outside)),
        inferred,
        [out.stop_gradient for out in outputs],
    )


def _kernel(name, function_of, *blocks):
    """The Kernel of an operation with blocks: `function_of(*blocks)` is its function."""
    kernel = Kernel(name, function_of(*blocks))
    kernel.fn.blocks, kernel.fn.function_of = blocks, function_of
    return kernel


def with_blocks(kernel, change):
    """The same with its blocks changed; they take in and give the same Symbols or others for them."""
    return _kernel(kernel.name, kernel.fn.function_of, *map(change, kernel.fn.blocks))


def _branching(yes, no, outside):
    """The function of a cond: (pred, *outside) -> results."""

    def side(block):
        return lambda *values: block.values(outside, values)

    def fn(pred, *values):
        pred = (
            jnp.asarray(pred).reshape(()).astype(bool) if np.size(pred) == 1 else jnp.all(jnp.asarray(pred))
        )
        if not isinstance(pred, jax.core.Tracer):
            return side(yes if pred else no)(*values)
        return jax.lax.cond(pred, side(yes), side(no), *map(jnp.asarray, values))

    return fn


def looped(tensors, stops, tested, step, picks):
    """Adds the operation of a loop of two Regions: Variables of what is carried, then of the Tensors changed
    in place. tensors: with their values before; stops: whether no gradient flows through them; picks: where
    the step has their next values."""
    recorder = local.ctx.frame
    starts, given = [recorder.symbol(t) for t in tensors], [t.stop_gradient for t in tensors]
    new = [_chosen(step, pick, t._raw.shape, t._raw.dtype) for pick, t in zip(picks, tensors, strict=True)]
    testing, stepping = tested.block, step.block
    testing.results, stepping.results = [tested.results[tested.value.index]], new
    pairs = [s.avals for s in stepping.inputs]
    uneven = any(s.avals != c or c != n.avals for s, c, n in zip(starts, pairs, new, strict=True))
    outside = list(dict.fromkeys([*testing.outside(), *stepping.outside()]))
    read = _stops((testing, stepping), outside)
    kernel = _kernel(
        "while", lambda test, step: _looping(test, step, outside, (starts, stops), read), testing, stepping
    )
    inferred = Inferred(tuple, pairs, uneven or testing.host or stepping.host)
    return recorder.add(kernel, [*starts, *outside], (*given, *read), inferred, stops)


def _looping(testing, step, outside, state, read):
    """The function of a while: (*state, *outside) -> state."""
    starts, stops = state
    count = len(starts)
    smooth = [s.dtype.kind in INEXACT and not stop for s, stop in zip(starts, stops, strict=True)]
    fixed_smooth = [s.dtype.kind in INEXACT and not stop for s, stop in zip(outside, read, strict=True)]

    def test(_, carry, fixed):
        return testing.values(outside, fixed, carry)[0].reshape(())

    def advance(_, carry, fixed):
        return step.values(outside, fixed, carry)

    whole = Loop(test, advance, smooth, fixed_smooth)

    def fn(*values):
        values = tuple(map(jnp.asarray, values))
        carry, fixed = values[:count], values[count:]
        if any(isinstance(v, jax.core.Tracer) for v in values) or isinstance(
            goes_on := test(0, carry, fixed), jax.core.Tracer
        ):
            # of known values, too, operations give traced ones while a program is compiled
            return tuple(whole.reversible(carry, fixed))
        while goes_on:
            carry = advance(0, carry, fixed)
            goes_on = test(0, carry, fixed)
        return carry

    return fn


def replayed(op, operands, ran):
    """Records the operation of a branch or loop anew; gives its results. ran: `(block, values of its
    inputs) -> results`, which records what is in a block."""
    if op.name == "cond":
        yes, no = op.kernel.fn.blocks
        return select(operands[0], [lambda: ran(no, []), lambda: ran(yes, [])], explicit=True)
    testing, step = op.kernel.fn.blocks
    state = operands[: len(step.inputs)]
    return repeat(
        lambda values: ran(testing, values)[0],
        lambda values, _: ran(step, values),
        state,
        [op.name] * len(state),
        explicit=True,
    )


__all__ = ["Block", "branch", "branched", "loop", "looped", "replayed", "with_blocks"]
