"""How each of our operations is written in PIR: `rule(w, a, out, *operands)` adds operations to the Builder `w` and gives the Value of the result,
or a list of them.

a: the attributes; out: (dtype, shape) of each result; operands: Values, lists of Values, or None where left out.
"""

import functools as ft
import types

import numpy as np

from paddle_jax._core import dtype as dtypes
from paddle_jax.framework.pir.builder import Length, NotWritable, Value
from paddle_jax.framework.pir.own_ops import PREFIX, encode, find, identity
from paddle_jax.framework.pir.records import parsed

LOWER = {}


def define(rules):
    """Adds rules; several names may share one."""
    for names, rule in rules.items():
        for name in names.split():
            LOWER[name] = rule


def _recorded(op, w, attrs, out, *operands):
    """Writes an op as its record says."""
    name, attributes = parsed(op.record.pir)
    values = {one.name: one.written(getattr(attrs, one.ours)) for one in attributes if one.ours in op.attrs}
    for left in {*op.attrs} - {one.ours for one in attributes}:
        if getattr(attrs, left) != op.signature.parameters[left].default:
            raise NotWritable(f"{op.name} with {left}={getattr(attrs, left)!r} has no form in PIR")
    inputs = [w.combine(value) if isinstance(value, list) else value for value in operands]
    return w.op(name, inputs, out if len(out) > 1 else out[0], **values)


def rule_of(op):
    """The rule that writes an op: code, or what its record says; None where Paddle has no such operation."""
    return op.record.write or LOWER.get(identity(op)) or (ft.partial(_recorded, op) if op.record.pir else None)


def apply(w, op, attrs, operands, out):
    """Adds one of our operations to the program: as operations of Paddle where there is a rule, else as one of our own, which only paddle_jax reads.

    Raises:
        NotWritable: its attributes cannot be written.
    """
    rule, mark = rule_of(op), len(w.ops)
    if rule is not None:
        try:
            found = rule(w, types.SimpleNamespace(**attrs), out, *(_promoted(w, op, operands) if op.promote else operands))
            return found if isinstance(found, list) else [found]
        except NotWritable:
            w.undo(mark)
    name = PREFIX + identity(op)
    if find(name) is not op:
        raise NotWritable(f"{op.name} has no form in a file")
    inputs = []
    for value in operands:
        if isinstance(value, list) and not all(isinstance(v, Value) for v in value):
            value = w.op("stack", [w.combine([w.length(v) if isinstance(v, Length) else w.full(v, "int64", ()) for v in value])],
                         ("int64", [len(value)]), axis=0)
        inputs.append(w.combine(value) if isinstance(value, list) else value)
    return w.own(name, inputs, out, encode(attrs))


def cast(w, value, dtype):
    """The value with another dtype."""
    return value if value.dtype == dtype else w.op("cast", [value], (dtype, value.shape), dtype=dtype)


def _promoted(w, op, operands):
    names = op.promote if isinstance(op.promote, tuple) else op.tensors
    at = [i for i, name in enumerate(op.tensors) if name in names and operands[i] is not None]
    values = [v for i in at for v in (operands[i] if isinstance(operands[i], list) else [operands[i]])]
    if isinstance(op.promote, str) and min(v.ndim for v in values) == 0:
        common = dtypes.mixed_np(*map(_like, values), op.promote == "wide")
    else:
        common = ft.reduce(dtypes.promote_np, [dtypes.convert(v.dtype).np for v in values])
    done, name = list(operands), np.dtype(common).name
    for i in at:
        done[i] = [cast(w, v, name) for v in done[i]] if isinstance(done[i], list) else cast(w, done[i], name)
    return done


class _Like:
    def __init__(self, dtype, ndim):
        self.dtype, self.ndim, self.shape = dtype, ndim, (1,) * ndim


def _like(value):
    return _Like(dtypes.convert(value.dtype).np, value.ndim)


# parts that several rules use ----------------------------------------------------------------------------------------


def pair(value, n):
    """n numbers from a number or a sequence."""
    return [value] * n if isinstance(value, int | float | Length) else list(value)


def positive(axis, ndim):
    """An axis counted from the front."""
    return axis % ndim if ndim else 0


def axes_of(axis, ndim):
    """All axes for None, a list of axes counted from the front otherwise."""
    if axis is None:
        return list(range(ndim))
    return [positive(i, ndim) for i in (axis if isinstance(axis, tuple | list) else [axis])]


def reshape(w, x, shape):
    """x in another shape, which may hold Lengths: one of them is -1, more are put together from the shapes of other values."""
    shape = list(shape)
    open_axes = [i for i, n in enumerate(shape) if isinstance(n, Length)]
    spec = list(shape)
    if len(open_axes) == 1:
        spec[open_axes[0]] = -1
    elif open_axes and x.ndim and len(shape) <= x.ndim + 8:
        rest = [i for i in open_axes if not (i < x.ndim and x.shape[i] == shape[i])]
        for i in open_axes:
            if i not in rest:
                spec[i] = 0
        if len(rest) == 1:
            spec[rest[0]] = -1
    return w.op("reshape", [x, w.ints(spec)], (x.dtype, shape))


def squeeze(w, x, axes):
    """x without axes of length 1."""
    return w.op("squeeze", [x, w.ints(axes)], (x.dtype, [n for i, n in enumerate(x.shape) if i not in axes]))


def unsqueeze(w, x, axis):
    """x with a new axis of length 1."""
    return w.op("unsqueeze", [x, w.ints([axis])], (x.dtype, [*x.shape[:axis], 1, *x.shape[axis:]]))


def transpose(w, x, perm):
    """x with its axes in another order."""
    return x if list(perm) == list(range(x.ndim)) else w.op("transpose", [x], (x.dtype, [x.shape[i] for i in perm]), perm=perm)


def scale(w, x, factor=1.0, bias=0.0, out=None):
    """x * factor + bias with numbers."""
    return w.op("scale", [x, w.full(factor)], out or x.type, bias=bias)


def binary(w, name, x, y, out=None):
    """An operation on two values of one shape."""
    return w.op(name, [x, y], out or (x.dtype, _broadcast(x.shape, y.shape)))


def _broadcast(one, two):
    one, two = ([1] * (max(len(one), len(two)) - len(s)) + list(s) for s in (one, two))
    return [b if a == 1 else a for a, b in zip(one, two, strict=True)]


def reduced(w, name, x, axes, keepdim, out, **attrs):
    """A reduction with its axes as an operand."""
    return w.op(name, [x, w.ints(axes)], out, keepdim=keepdim, **attrs)


def average(w, loss, reduction, out):
    """A loss per element as it is, summed, or averaged."""
    if reduction == "none":
        return loss
    return reduced(w, "sum" if reduction == "sum" else "mean", loss, list(range(loss.ndim)), False, (loss.dtype, []))


def known_ints(value):
    """The numbers of an operand that must be constant."""
    if isinstance(value, Value):
        raise NotWritable("an operand that has to be constant is computed")
    return value
