"""Branches and loops of a static Program: each branch and body is recorded into a block of its own, and the
whole is one operation."""

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core import dtype as dtypes
from paddle_jax._core.capture.tracing import is_tensor
from paddle_jax._core.deferred.value import INEXACT, aval_of
from paddle_jax._core.ops.kernel import Kernel
from paddle_jax._core.state import local
from paddle_jax._core.values.symbol import PROBES, Symbol
from paddle_jax.jit.dy2static.reversible import Loop
from paddle_jax.static.inference import Inferred
from paddle_jax.static.run import evaluate, value_of
from paddle_jax.static.variable import variable

_ROUNDS = 4


class Block:
    """Operations that run as a part of another one.

    inputs: Symbols that are given to it. results: Symbols that it gives; stops: whether gradients end there.
    changed: [(Tensor, Symbol)] of Tensors outside that it changes in place.
    """

    def __init__(self, inputs=()):
        self.ops, self.inputs, self.results, self.stops, self.changed = [], list(inputs), [], [], []

    def outside(self):
        """Symbols that it takes from outside."""
        made = {*self.inputs, *[o for op in self.ops for o in op.outputs]}
        used = [*[s for op in self.ops for s in op.inputs], *self.results, *[s for _, s in self.changed]]
        return [s for s in dict.fromkeys(used) if s not in made and s.kind != "constant"]

    def run(self, outside, values, given=()):
        """The arrays of some Symbols (by default the results)."""
        env = dict(zip(outside, values, strict=True))
        env.update(zip(self.inputs, given, strict=True))
        evaluate(self.ops, env)
        return env

    @property
    def host(self):
        """Whether an operation needs values on the host."""
        return any(op.host for op in self.ops)


def recorded(function, inputs=(), arguments=()):
    """(Block, what `function(*arguments)` returned) with the operations of the call in the block."""
    recorder = local.ctx.frame
    with recorder.block(inputs) as block:
        out = function(*arguments)
        leaves, tree = jax.tree.flatten(out, is_leaf=is_tensor)
        leaves = [_leaf(recorder, x) for x in leaves]
        block.results = [recorder.symbol(x) for x in leaves if is_tensor(x)]
        block.stops = [x.stop_gradient for x in leaves if is_tensor(x)]
        block.changed = [(tensor, tensor._raw) for tensor, before in recorder.changed()
                         if type(before) is Symbol]
    return block, leaves, tree


def _leaf(recorder, value):
    """A leaf of a result: numbers become constants, of which the value may differ between branches."""
    if isinstance(value, bool | int | float | np.number | np.bool_):
        kind = (np.bool_ if isinstance(value, bool | np.bool_) else np.int64
                if isinstance(value, int | np.integer) else dtypes.default().np)
        return recorder.constant(np.asarray(value, kind))
    return value


def _stops(blocks, symbols):
    """For each Symbol from outside whether no gradient flows to it: every use of it in the blocks is one
    where gradients end."""
    flows = set()
    for block in blocks:
        for op in block.ops:
            flows.update(s for s, stop in zip(op.inputs, op.stops, strict=True) if not stop)
        flows.update(block.results)
        flows.update(s for _, s in block.changed)
    return tuple([s not in flows for s in symbols])


def joined(one, other):
    """The pair of avals that two results have in common; None where they have no dtype or number
    of axes in common."""
    a, b = one.avals, other.avals
    if a[0].dtype != b[0].dtype or a[0].ndim != b[0].ndim:
        return None
    if a == b:
        return a
    shapes = [[n if n == m else probe for n, m in zip(one.shape, other.shape, strict=True)]
              for probe in PROBES]
    return tuple([aval_of(tuple(probe if n == -1 else n for n in shape), a[0].dtype)
                  for shape, probe in zip(shapes, PROBES, strict=True)])


def _shown(symbol):
    return f"{symbol.dtype.name}{list(symbol.shape)}"


def branch(pred, true_fn, false_fn):
    """cond for a Variable."""
    (yes, leaves, tree), (no, others, _) = (recorded(f or (lambda: None)) for f in (true_fn, false_fn))
    if len(leaves) != len(others):
        if not leaves or not others:
            raise ValueError("cond: one of true_fn and false_fn returns None, the other does not; "
                             "let both return the same structure")
        raise ValueError(f"cond: true fn returns {len(leaves)} vars, but false fn returns {len(others)} "
                         "vars; they must return the same structure")
    _same_kinds(leaves, others)
    results = list(zip(yes.results, no.results, strict=True))
    targets = {id(t): t for t, _ in (*yes.changed, *no.changed)}
    for tensor in targets.values():
        pair = [next((s for t, s in block.changed if t is tensor), tensor._raw) for block in (yes, no)]
        results.append(tuple(pair))
    ends = [a and b for a, b in zip(yes.stops, no.stops, strict=True)] + [False] * len(targets)
    return _taken(branched(pred, yes, no, results, ends), leaves, tree, targets.values())


def _filled(leaves, tree, variables):
    """A structure with Variables in place of its Tensors."""
    variables = iter(variables)
    return jax.tree.unflatten(tree, [next(variables) if is_tensor(x) else x for x in leaves])


def _taken(variables, leaves, tree, targets):
    """What the code of a branch or loop returned, with the Variables that its operation gives first; the
    others become the values of the Tensors outside that it changes."""
    recorder, targets = local.ctx.frame, list(targets)
    for tensor, new in zip(targets, variables[len(variables) - len(targets) :], strict=True):
        recorder.note(tensor)
        tensor._raw = new._raw
    return _filled(leaves, tree, variables)


def branched(pred, yes, no, results, ends):
    """Adds the operation of a cond. results: pairs of Symbols; ends: for each whether no gradient flows
    through it. Gives Variables."""
    pairs = []
    for number, (a, b) in enumerate(results):
        pair = joined(a, b)
        if pair is None and a.kind == b.kind == "constant":
            raise TypeError(f"cond: result {number} is {_shown(a)} in true_fn and {_shown(b)} in false_fn; "
                            "numbers must be of one kind")
        if pair is None:
            raise RuntimeError(f"cond: result {number} is {_shown(a)} in true_fn and {_shown(b)} in "
                               "false_fn; both must have the same dtype and number of axes; "
                               "use astype and reshape")
        pairs.append(pair)
    uneven = any(a.avals != b.avals for a, b in results)
    outside = list(dict.fromkeys([*yes.outside(), *no.outside(),
                                  *[s for pair in results for s in pair if _is_outer(s, yes, no)]]))
    kernel = Kernel("cond", _branching(yes, no, outside, results))
    kernel.fn.parts = yes, no, results  # for files: static/recording.py
    inferred, stops = Inferred(tuple, pairs, uneven or yes.host or no.host), _stops((yes, no), outside)
    return local.ctx.frame.add(kernel, [pred._raw, *outside], (True, *stops), inferred, ends)


def _is_outer(symbol, *blocks):
    return symbol.kind != "constant" and not any(symbol in op.outputs for block in blocks for op in block.ops)


def _same_kinds(leaves, others):
    for a, b in zip(leaves, others, strict=True):
        if is_tensor(a) != is_tensor(b) or not is_tensor(a) and a != b:
            raise TypeError(f"cond: true_fn returns {type(a).__name__} where false_fn returns "
                            f"{type(b).__name__}; both must return Variables there")


def _branching(yes, no, outside, results):
    """The function of a cond: (pred, *outside) -> results."""

    def side(block, at):
        def run(*values):
            env = block.run(outside, values)
            return tuple([jnp.asarray(value_of(pair[at], env)) for pair in results])

        return run

    def fn(pred, *values):
        pred = (jnp.asarray(pred).reshape(()).astype(bool) if np.size(pred) == 1
                else jnp.all(jnp.asarray(pred)))
        if not isinstance(pred, jax.core.Tracer):
            return (side(yes, 0) if pred else side(no, 1))(*values)
        return jax.lax.cond(pred, side(yes, 0), side(no, 1), *map(jnp.asarray, values))

    return fn


def loop(test, body, state):
    """while_loop for Variables; returns the last state, a list."""
    recorder = local.ctx.frame
    leaves, tree = jax.tree.flatten(list(state), is_leaf=is_tensor)
    at = [i for i, x in enumerate(leaves) if is_tensor(x)]
    starts = [recorder.symbol(leaves[i]) for i in at]
    given = [leaves[i].stop_gradient for i in at]
    pairs, stops = [s.avals for s in starts], given
    for _ in range(_ROUNDS):
        carried, testing, step, new, after = _one_step(recorder, test, body, leaves, tree, at, pairs, stops)
        wider = [joined(a, b) for a, b in zip(carried, new, strict=True)]
        freed = [a and b for a, b in zip(stops, after, strict=True)]
        for number, (pair, a, b) in enumerate(zip(wider, carried, new, strict=True)):
            if pair is None:
                raise ValueError(f"while_loop: loop variable {number} is {_shown(a)}, and {_shown(b)} after "
                                 "body; the dtype and the number of axes must stay; use astype and reshape")
        if wider == pairs and freed == stops:
            break
        pairs, stops = wider, freed
    targets = [(t, s) for t, s in step.changed if type(t._raw) is Symbol]
    variables = looped(starts, given, stops, testing, step, new, targets)
    return _taken(variables, leaves, tree, [t for t, _ in targets])


def looped(starts, given, stops, testing, step, new, targets=()):
    """Adds the operation of a while. starts, new: Symbols of the state before the loop and after a step;
    given, stops: for each whether no gradient flows to it, and through it; targets: (Tensor outside that a
    step changes, Symbol of its new value). Gives Variables of all."""
    pairs = [s.avals for s in step.inputs]
    uneven = any(s.avals != c or c != n.avals for s, c, n in zip(starts, pairs, new, strict=True))
    outside = [s for s in dict.fromkeys([*testing.outside(), *step.outside()])
               if s not in [t._raw for t, _ in targets]]
    befores, afters = [t._raw for t, _ in targets], [s for _, s in targets]
    read = _stops((testing, step), outside)
    kernel = Kernel("while",
                    _looping(testing, step, outside, (starts, stops), befores, [*new, *afters], read))
    kernel.fn.parts = testing, step, [(s, s) for s in new], len(befores)
    inferred = Inferred(tuple, [*pairs, *[s.avals for s in befores]], uneven or testing.host or step.host)
    symbols = [*starts, *befores, *outside]
    ends = (*given, *[t.stop_gradient for t, _ in targets], *read)
    return local.ctx.frame.add(kernel, symbols, ends, inferred, [*stops, *[False] * len(targets)])


def _one_step(recorder, test, body, leaves, tree, at, pairs, stops):
    """Records test and body on Symbols of given avals: (Symbols of the state, block of the test, block of the
    body, Symbols after it, whether gradients end at each of them)."""
    carried = [Symbol(pair, "block", recorder.program) for pair in pairs]

    def filled():
        return _filled(leaves, tree, [variable(s, stop, recorder.kind)
                                      for s, stop in zip(carried, stops, strict=True)])

    testing, answer, _ = recorded(test, carried, filled())
    if len(answer) != 1 or not is_tensor(answer[0]):
        raise TypeError(f"while_loop: cond returns {len(answer)} values; it must return one Variable of "
                        "dtype bool and one element")
    _check_answer(answer[0])
    step, out, _ = recorded(lambda *given: _as_list(body(*given)), carried, filled())
    if len(out) != len(leaves):
        raise ValueError("while_loop: body in while_loop should return the same arity (length and structure) "
                         f"as loop_vars: got {len(out)} values, {len(leaves)} are needed")
    new, ends = iter(step.results), iter(step.stops)
    symbols = [next(new) if is_tensor(x) else None for x in out]
    ends = [next(ends) if is_tensor(x) else None for x in out]
    for i, x in enumerate(leaves):
        if is_tensor(x) and symbols[i] is None:
            raise ValueError(f"while_loop: body returns {out[i]!r} for loop variable {i}, a Variable; "
                             "return a Variable")
        if not is_tensor(x) and (is_tensor(out[i]) or x is not out[i] and x != out[i]):
            raise ValueError(f"while_loop: loop variable {i} is {x!r}, no Variable, and changes in body; "
                             f"start with paddle.full([1], {x!r})")
    return carried, testing, step, [symbols[i] for i in at], [ends[i] for i in at]


def _as_list(out):
    return list(out) if isinstance(out, tuple | list) else [out]


def _check_answer(answer):
    if answer._raw.dtype != np.bool_:
        raise TypeError(f"while_loop: cond returns dtype {answer._raw.dtype.name}; it must be bool")
    if answer._raw.size != 1:
        raise TypeError(f"while_loop: cond returns shape {list(answer.shape)}; it must have one element")


def _looping(testing, step, outside, state, befores, new, read):
    """The function of a while: (*state, *changed, *outside) -> (state, changed)."""
    starts, stops = state
    count = len(starts) + len(befores)
    smooth = ([s.dtype.kind in INEXACT and not stop for s, stop in zip(starts, stops, strict=True)]
              + [s.dtype.kind in INEXACT for s in befores])
    fixed_smooth = [s.dtype.kind in INEXACT and not stop for s, stop in zip(outside, read, strict=True)]

    def computed(block, symbols, carry, fixed):
        env = block.run([*befores, *outside], [*carry[len(starts) :], *fixed], carry[: len(starts)])
        return tuple([jnp.asarray(value_of(s, env)) for s in symbols])

    def test(_, carry, fixed):
        return computed(testing, testing.results[:1], carry, fixed)[0].reshape(())

    def advance(_, carry, fixed):
        return computed(step, new, carry, fixed)

    whole = Loop(test, advance, smooth, fixed_smooth)

    def fn(*values):
        values = tuple(map(jnp.asarray, values))
        carry, fixed = values[:count], values[count:]
        if (any(isinstance(v, jax.core.Tracer) for v in values)
                or isinstance(goes_on := test(0, carry, fixed), jax.core.Tracer)):
            # of known values, too, operations give traced ones while a program is compiled
            return tuple(whole.reversible(carry, fixed))
        while goes_on:
            carry = advance(0, carry, fixed)
            goes_on = test(0, carry, fixed)
        return carry

    return fn


__all__ = ["Block", "branch", "branched", "joined", "loop", "looped", "recorded"]
