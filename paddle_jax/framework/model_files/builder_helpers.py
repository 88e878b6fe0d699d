"""Parts that several rules for writing use: `w` is the Builder, x and y Values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.lazy.lengths import Length, expression_of, is_length
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder import Value
from paddle_jax.framework.model_files.plain_values import as_list

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike
    from paddle_jax.framework.model_files.builder import Builder


def cast(w: Builder, value: Value, dtype: DTypeLike) -> Any:
    """The value with another dtype."""
    if value.dtype == dtype:
        return value
    return w.op("cast", [value], (dtype, value.shape), dtype=dtype)


def pair(value: Any, n: Any) -> list[Length | int]:
    """n numbers from a number or a sequence."""
    # `int`, `float` or Length: the same for all axes.
    if isinstance(value, int | float | Length):
        return [value] * n
    return list(value)


def positive(axis: Any, ndim: Any) -> int:
    """An axis counted from the front."""
    # A 0-D value has the axes 0 and -1 in Paddle.
    if ndim:
        return axis % ndim
    return 0


def axes_of(axis: Any, ndim: Any) -> list[int] | list[Any | int]:
    """All axes for None, a list of axes counted from the front otherwise."""
    if axis is None:
        return list(range(ndim))
    return [positive(i, ndim) for i in as_list(axis)]


def reshape(w: Builder, x: Value, shape: Any) -> Any:
    """x in another shape, which may hold Lengths: one of them is -1, more are put together from the shapes
    of other values."""
    shape = list(shape)
    open_axes = [i for i, n in enumerate(shape) if isinstance(n, Length)]
    spec = list(shape)
    # -1: Paddle computes the one open length from the number of elements.
    if len(open_axes) == 1:
        spec[open_axes[0]] = -1
    # 0: Paddle takes the length of the same axis of x. With both at most one length has to be put together.
    elif open_axes and x.ndim and len(shape) <= x.ndim + 8:
        rest = [i for i in open_axes if not (i < x.ndim and same_length(x.shape[i], shape[i]))]
        for i in open_axes:
            if i not in rest:
                spec[i] = 0
        if len(rest) == 1:
            spec[rest[0]] = -1
    return w.op("reshape", [x, w.ints(spec)], (x.dtype, shape))


def same_length(one: Length | int, other: Length | int) -> bool:
    """Whether two lengths are the same for all inputs."""
    return expression_of(one) == expression_of(other)


def same_shape(one: Any, other: Any) -> bool:
    """Whether two shapes are the same for all inputs."""
    return len(one) == len(other) and all(map(same_length, one, other))


def expanded(w: Builder, x: Value, shape: Any) -> Any:
    """x broadcast to a shape."""
    if same_shape(x.shape, shape):
        return x
    return w.op("expand", [x, w.ints(shape)], (x.dtype, shape))


def squeeze(w: Builder, x: Value, axes: Any) -> Any:
    """x without axes of length 1."""
    return w.op("squeeze", [x, w.ints(axes)], (x.dtype, [n for i, n in enumerate(x.shape) if i not in axes]))


def unsqueeze(w: Builder, x: Value, axis: Any) -> Any:
    """x with a new axis of length 1."""
    return w.op("unsqueeze", [x, w.ints([axis])], (x.dtype, [*x.shape[:axis], 1, *x.shape[axis:]]))


def transpose(w: Builder, x: Value, perm: Any) -> Any:
    """x with its axes in another order."""
    # In order already.
    if list(perm) == list(range(x.ndim)):
        return x
    return w.op("transpose", [x], (x.dtype, [x.shape[i] for i in perm]), perm=perm)


def scaled(w: Builder, x: Any, factor: Any = 1.0, bias: Any = 0.0, out: Any = None) -> Any:
    """x * factor + bias with numbers."""
    # `scale` takes plain numbers.
    if is_length(factor) or is_length(bias):
        x = w.op("multiply", [x, w.number(factor, x.dtype)], x.type)
        return w.op("add", [x, w.number(bias, x.dtype)], out or x.type)
    return w.op("scale", [x, w.full(factor)], out or x.type, bias=bias)


def binary(w: Builder, name: str, x: Value, y: Value, out: Any = None) -> Any:
    """An operation on two values of one shape."""
    return w.op(name, [x, y], out or (x.dtype, _broadcast(x.shape, y.shape)))


def _broadcast(one: Sequence[Length | int], two: Sequence[Length | int]) -> Any:
    # Shorter shapes get axes of length 1 in front, as NumPy does it.
    one, two = ([1] * (max(len(one), len(two)) - len(s)) + list(s) for s in (one, two))
    return [b if expression_of(a) == 1 else a for a, b in zip(one, two, strict=True)]


def reduced(w: Builder, name: str, x: Value, axes: Any, keepdim: bool, out: Any, **attrs: Any) -> Any:
    """A reduction with its axes as an operand."""
    return w.op(name, [x, w.ints(axes)], out, keepdim=keepdim, **attrs)


def average(w: Builder, loss: Value, reduction: str, out: Any) -> Value:
    """A loss per element as it is, summed, or averaged."""
    if reduction == "none":
        return loss
    # Paddle's losses average for anything but "sum".
    name = {"sum": "sum"}.get(reduction, "mean")
    return reduced(w, name, loss, list(range(loss.ndim)), False, (loss.dtype, []))


def constant_of(w: Any, value: Any) -> Any:
    """The number that a value stands for, which has to be constant."""
    # A number is known if an operation of this program makes it.
    for op in w.ops:
        if op["#"] == "1.full" and op["O"][0]["%"] == value.number:
            return next(one["AT"]["D"] for one in op["A"] if one["N"] == "value")
    raise NotWritable("a number that has to be constant is computed")


def known_ints(value: Any) -> list[int]:
    """The numbers of an operand that must be constant."""
    if isinstance(value, Value):
        raise NotWritable("an operand that has to be constant is computed")
    return value
