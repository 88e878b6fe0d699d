"""Shapes and the order of axes: reshape, transpose, squeeze, expand, tile, cast."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import ArgumentError, CheckError
from paddle_jax._core.base.size import are_known
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.views import ViewRule
from paddle_jax.tensor.attribute import common_shape
from paddle_jax.tensor.axes import ints, many_axes, one_axis, variadic
from paddle_jax.tensor.inner import converted

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Axes, DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


X = {"input": "x"}
X_DIM = {"input": "x", "dim": "axis"}


def _target_shape(
    name: str, shape: Sequence[int], old: Sequence[int]
) -> tuple[Any, ...] | tuple[int | Any, ...]:
    """The shape that a reshape asks for: 0 copies the length at that place (of an empty tensor: is 0), one -1
    takes what is left."""
    if 0 in old and 0 in shape:
        # Zeros may mean "copy" or "empty" here.
        return _empty_shape(name, shape, old)
    new = [old[i] if s == 0 and i < len(old) else s for i, s in enumerate(shape)]
    size = math.prod(old)
    left = math.prod(s for s in new if s != -1)
    if new.count(-1) > 1 or any(are_known(s) and s < -1 for s in new):
        raise CheckError(
            f"(InvalidArgument) {name}: shape: got {list(shape)}; lengths are >= 0 and at most one is -1"
        )
    # With symbolic lengths the sizes are compared when the program runs.
    if not are_known(size, left):
        return tuple(new)
    if -1 in new:
        # A length of 0 beside it leaves nothing for -1.
        new[new.index(-1)] = size // left if left else 0
    if math.prod(new) != size:
        raise ValueError(
            f"{name}: shape: got {list(shape)} for a tensor of shape {list(old)}; "
            f"the number of elements must stay {size}"
        )
    return tuple(new)


def _empty_shape(
    name: str, shape: Sequence[int], old: Sequence[int]
) -> tuple[Any, ...] | tuple[int | Any, ...]:
    """The shape of an empty tensor that is asked for with zeros: -1 takes what is left of the other lengths,
    of which as many are 0 as before."""
    if -1 not in shape and min(shape) >= 0:
        return tuple(shape)
    left = math.prod(n for n in old if n)
    given = math.prod(n for n in shape if n not in (0, -1))
    if shape.count(-1) != 1 or min(shape) < -1 or shape.count(0) != old.count(0) or left % given:
        raise ValueError(
            f"{name}: shape: got {list(shape)} for a tensor of shape {list(old)}; "
            "it does not say what -1 stands for"
        )
    return tuple(left // given if n == -1 else n for n in shape)


_RESHAPED = Kernel("reshape_back", lambda base, value, *rest: value.reshape(base.shape))
# How a changed view goes back into its base: here the elements lie in the same order.
_LENGTHS, _ONES = ViewRule(lambda kernel: _RESHAPED, copies=True), ViewRule(lambda kernel: _RESHAPED)


def _whole(layout: Sequence[int], attrs: Sequence[int | str]) -> ViewRule | None:
    """For views that show all elements in the same order; not those that read their bytes
    as another dtype."""
    # A view as another dtype changes what the elements are.
    if attrs and (type(attrs[0]) is str or isinstance(attrs[0], dtypes.DType)):
        return None
    return _LENGTHS


def _lengths_of_one(layout: Sequence[int], attrs: Sequence[Any]) -> ViewRule:
    """For views with more or fewer axes of length 1."""
    return _ONES


@ft.lru_cache(maxsize=1024)
def _turned_back(perm: Sequence[int]) -> Kernel:
    # The inverse permutation.
    order = tuple(sorted(range(len(perm)), key=perm.__getitem__))
    return Kernel("permute_back", lambda base, value: jnp.transpose(value, order))


def _turned(layout: Sequence[int], attrs: Sequence[Any]) -> ViewRule:
    """For views with the axes in another order."""
    perm = tuple(attrs[0])
    return ViewRule(lambda kernel: _turned_back(perm), dense=perm == tuple(range(len(perm))))


@known_as(pir="reshape|view_shape(x,shape:ints)", code="shapes:reshape_form")
@op(
    view=_whole,
    inplace="reshapes",
    alias=X,
    cases=[
        "f(2,3), [3, 2]",
        "f(2,3), [-1]",
        "f(2,3), [0, 0]",
        "f(2,3,4), [0, -1]",
        "f(2,3), (3, -1)",
        "f(1), []",
        "f(), [1, 1]",
        "f(0,3), [3, 0]",
        "f(0,3), [-1, 3]",
        "f(2,3), const([3, 2], 'int64')",
        "f(2,3), [const(3, 'int64'), 2]",
        "f(2,3), [4, -1]",
        "f(2,3), [-1, -1]",
        "f(2,3), [7]",
        "f(2,3), [0, 0, 0]",
        "f(2,3), (-2, 3)",
        "f(2,3), 'a'",
        "i(6), 2, 3",
    ],
)
def reshape(x: jax.Array, shape: Any, name: str | None = None) -> jax.Array:
    """Gives the elements another shape, in the same order.

    Args:
        x: Tensor [...], any dtype.
        shape: list, tuple or 1-D int Tensor; its items may be Tensors. 0 copies the length of x at that
            place, one -1 takes what is left. The lengths may also be given as separate arguments:
            x.reshape(2, 3).
    Returns:
        Tensor of the new shape.
    Raises:
        ValueError: the number of elements does not fit.
    Example:
        >>> paddle.reshape(paddle.arange(6), [0, -1]).shape
        paddle.Size([6, 1])
    """
    return x.reshape(_target_shape("reshape", ints("reshape", shape, "shape"), x.shape))


reshape = variadic(reshape)


# the gradient through a change of dtype is zero here; the oracle reinterprets the bits of the cotangent,
# which is no gradient
@known_as(code="shapes:view")
@op(
    alias={"dtype": "shape_or_dtype", "size": "shape_or_dtype"},
    view=_whole,
    cases=[
        "f(2,3), [3, 2]",
        "~f(2,3), 'int32'",
        "~f(2,4), 'float64'",
        "~d(2,3), 'float32'",
        "~c(2,3), 'float32'",
        "~c(2,3), 'int64'",
        "~f(2,4), 'complex64'",
        "~i(2,3), 'complex64'",
        "~c(2,4), 'complex128'",
        "c(2,3), 'complex128'",
        "f(2,3), [7]",
        "f(2,3), 'float64'",
        "f(6), 2, 3",
    ],
)
def view(x: jax.Array, shape_or_dtype: Any, name: str | None = None) -> jax.Array:
    """Reads the elements with another shape, or their bytes as another dtype (the last axis shrinks
    or grows to fit).

    Args:
        x: Tensor [...].
        shape_or_dtype: list or tuple of ints as for `reshape`, or a dtype. `size` and `dtype` are
            accepted as names.
    Returns:
        Tensor that shares its elements with x.
    Raises:
        ValueError: the number of elements, or of bytes on the last axis, does not fit.
    Example:
        >>> paddle.view(paddle.ones([2]), "int32").tolist()
        [1065353216, 1065353216]
    """
    if isinstance(shape_or_dtype, tuple | int) and not isinstance(shape_or_dtype, bool):
        return x.reshape(_target_shape("view", ints("view", shape_or_dtype, "shape_or_dtype"), x.shape))
    return _reinterpret(x, dtypes.convert(shape_or_dtype).np)


def _reinterpret(x: jax.Array, dtype: np.dtype) -> jax.Array:
    if (x.ndim == 0 and x.dtype.itemsize != dtype.itemsize) or (
        x.ndim and x.shape[-1] * x.dtype.itemsize % dtype.itemsize
    ):
        raise ValueError(
            f"(InvalidArgument) view: the last axis of shape {list(x.shape)} holds no whole "
            f"number of {dtype.name}"
        )
    if x.dtype == dtype:
        return x
    shape = x.shape
    # A complex number is two floats to XLA's bitcast.
    parts = [np.empty(0, kind).real.dtype for kind in (x.dtype, dtype)]
    if x.dtype != parts[0]:  # complex: XLA does not look into it
        x = jnp.stack([x.real, x.imag], -1).reshape(*shape[:-1], 2 * math.prod(shape[-1:]))
    if dtype != parts[1]:
        x = _bits(jnp.atleast_1d(x), parts[1])
        x = lax.complex(x[..., ::2], x[..., 1::2])
    else:
        x = _bits(x, dtype)
    if shape:
        return x
    # A 0-D tensor had an axis for the conversion of its bits.
    return x.reshape(shape)


def _bits(x: jax.Array, dtype: np.dtype) -> jax.Array:
    old = x.dtype.itemsize
    new = dtype.itemsize
    if new > old:
        # Several small elements make a large one, along a new last axis.
        x = x.reshape(*x.shape[:-1], -1, new // old)
    # Bools have no bits of their own in XLA.
    y = lax.bitcast_convert_type(x.astype(jnp.uint8) if x.dtype == jnp.bool_ else x, dtype)
    if new < old and x.ndim:
        return y.reshape(*x.shape[:-1], -1)
    return y


view = variadic(view)


@known_as(code="element_moves:view_as")
@op(view=_whole, cases=["f(2,3), f(3,2)", "f(6), f(2,3)", "f(6), f(4)"], constant="other", tensors="x other")
def view_as(x: jax.Array, other: jax.Array, name: str | None = None) -> jax.Array:
    """Gives x the shape of `other`.

    Args:
        x: Tensor [...].
        other: Tensor with as many elements.
    Returns:
        Tensor of the shape of other, which shares its elements with x.
    Raises:
        ValueError: the numbers of elements differ.
    Example:
        >>> paddle.view_as(paddle.arange(6), paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """
    return x.reshape(_target_shape("view_as", other.shape, x.shape))


@known_as(pir="transpose", node="transpose")
@op(view=_turned, register=False, method=False)
def permute_axes(x: jax.Array, perm: Any) -> jax.Array:
    """Puts the axes in the order `perm`: what the public transpose functions call."""
    return jnp.transpose(x, perm)


@known_as(pir="transpose perm:i32s", onnx="Transpose perm")
@composite(
    alias={"input": "x", "axis0": "dim0", "axis1": "dim1"},
    inplace="reshapes",
    cases=[
        "f(2,3), [1, 0]",
        "f(2,3,4), [2, 0, 1]",
        "f(2,3,4), [-1, 0, 1]",
        "f(), []",
        "f(2,3), 0, 1",
        "f(2,3,4), -1, 0",
        "f(2,3), [0, 0]",
        "f(2,3), [0, 2]",
        "f(0,3), [1, 0]",
        "i(2,3), [1, 0]",
        "f(2,3), dim0=0, dim1=1",
    ],
)
def transpose(
    x: Tensor, perm: Any = None, name: str | None = None, *, dim0: Any = None, dim1: Any = None
) -> Tensor:
    """Puts the axes in another order.

    Args:
        x: Tensor [...].
        perm: list of the axes in their new order. Two numbers, x.transpose(0, 1), swap those axes.
        dim0, dim1: the axes to swap, instead of perm. `axis0` and `axis1` are accepted as names.
    Returns:
        Tensor whose axis i is axis perm[i] of x.
    Raises:
        ValueError: perm does not name each axis once.
    Example:
        >>> paddle.transpose(paddle.ones([2, 3, 4]), [2, 0, 1]).shape
        paddle.Size([4, 2, 3])
    """
    # torch's form: two axes that are swapped, by place.
    if isinstance(perm, int):
        dim0 = perm
        dim1 = name if dim1 is None else dim1
        perm = None
    if perm is None:
        return _swap("transpose", x, dim0, dim1)
    return permute_axes(x, _permutation(ints("transpose", perm, "perm"), x.ndim))


@ft.lru_cache(maxsize=4096)
def _permutation(perm: Sequence[int], ndim: int) -> tuple[Any, ...]:
    if len(perm) != ndim:
        raise ValueError(
            f"transpose: perm: got {list(perm)} for a tensor of {ndim} axes; name each axis once"
        )
    return many_axes("transpose", perm, ndim, "perm")


def _swap(name: str, x: Tensor | type, first: int | None, second: Tensor | int | None) -> Tensor:
    first = one_axis(name, first, x.ndim, "dim0", IndexError)
    second = one_axis(name, second, x.ndim, "dim1", IndexError)
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    return permute_axes(x, tuple(order))


@composite(cases=["f(2,3), [1, 0]", "f(2,3), 1, 0", "f(2,3,4), dims=[2, 0, 1]", "f(2,3), [0, 0]"])
def permute(input: Tensor, dims: Any) -> Tensor:
    """Puts the axes in the order given, as a list or as separate numbers. See `transpose`.

    Args:
        input: Tensor [...].
        dims: list or tuple of all axes, or as many ints.
    Returns:
        Tensor.
    Example:
        >>> paddle.permute(paddle.ones([2, 3]), 1, 0).shape
        paddle.Size([3, 2])
    """
    return transpose(input, [dims] if isinstance(dims, int) else dims)


permute = variadic(permute)


@known_as(pir="squeeze(x,axis:ints?)", onnx="Squeeze(x, axis)")
@op(
    view=_lengths_of_one,
    inplace="reshapes",
    alias=X_DIM,
    cases=[
        "f(1,3,1)",
        "f(1,3,1), 0",
        "f(1,3,1), [0, -1]",
        "f(1,3,1), 1",
        "f(2,3)",
        "f()",
        "f(1,3,1), 5",
        "f(1,0)",
        "i(1,2), axis=0",
        "f(1,3), const(0, 'int64')",
    ],
)
def squeeze(x: jax.Array, axis: Axes = None, name: str | None = None) -> jax.Array:
    """Takes away axes of length 1.

    Args:
        x: Tensor [...].
        axis: int, list or tuple of ints: the axes to look at (those of another length stay). Default: all.
            `dim` is accepted as a name.
    Returns:
        Tensor with the same elements.
    Raises:
        ValueError: an axis is out of range.
    Example:
        >>> paddle.squeeze(paddle.ones([1, 3, 1]), 0).shape
        paddle.Size([3, 1])
    """
    if axis is None or axis == ():
        axes = range(x.ndim)
    else:
        axes = [one_axis("squeeze", a, max(x.ndim, 1)) for a in ints("squeeze", axis, "axis")]
    # Axes of another length are left as they are, as in Paddle.
    return lax.squeeze(x, sorted({a for a in axes if a < x.ndim and x.shape[a] == 1}))


@known_as(pir="unsqueeze(x,axis:ints)", onnx="Unsqueeze(x, axis)")
@op(
    view=_lengths_of_one,
    inplace="reshapes",
    alias=X_DIM,
    cases=[
        "f(3), 0",
        "f(3), -1",
        "f(3), [0, 2]",
        "f(3), (0, -1)",
        "f(3), [0, 0]",
        "f(3), const([0, 2], 'int64')",
        "f(), 0",
        "f(), [0, 1]",
        "f(3), 5",
        "f(3), -3",
        "f(0,3), 1",
    ],
)
def unsqueeze(x: jax.Array, axis: Axes, name: str | None = None) -> jax.Array:
    """Inserts axes of length 1.

    Args:
        x: Tensor [...].
        axis: int, list, tuple or Tensor of ints: where; several are inserted one after the other. `dim` is
            accepted as a name.
    Returns:
        Tensor with the same elements.
    Raises:
        ValueError: an axis is out of range.
    Example:
        >>> paddle.unsqueeze(paddle.ones([3]), [0, 2]).shape
        paddle.Size([1, 3, 1])
    """
    if isinstance(axis, bool):
        raise ArgumentError(f"unsqueeze: axis: got {axis}; it must be an int or a list of ints")
    shape = list(x.shape)
    for a in () if axis is None else ints("unsqueeze", axis, "axis"):
        # Each axis counts in the shape with those inserted before.
        shape.insert(one_axis("unsqueeze", a, len(shape) + 1), 1)
    return x.reshape(shape)


@known_as(pir="flatten start_axis:i32 stop_axis:i32", code="shapes:flatten")
@op(
    view=_whole,
    inplace="reshapes",
    alias={"input": "x", "start_dim": "start_axis", "end_dim": "stop_axis"},
    cases=[
        "f(2,3,4)",
        "f(2,3,4), 1",
        "f(2,3,4), 0, 1",
        "f(2,3,4), 1, -1",
        "f(2,3), 0, 5",
        "f(2,3), 1, 0",
        "f()",
        "f(0,3)",
        "f(2,3,4), start_axis=-2",
        "i(2,2)",
    ],
)
def flatten(x: jax.Array, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> jax.Array:
    """Joins the axes from start_axis to stop_axis (included) to one.

    Args:
        x: Tensor [...]. A 0-D tensor becomes 1-D.
        start_axis: first axis. `start_dim` is accepted as a name.
        stop_axis: last axis. `end_dim` is accepted as a name.
    Returns:
        Tensor with the joined axes as one.
    Raises:
        ValueError: an axis is out of range, or stop_axis comes before start_axis.
    Example:
        >>> paddle.flatten(paddle.ones([2, 3, 4]), 1).shape
        paddle.Size([2, 12])
    """
    if x.ndim == 0:
        if start_axis not in (0, -1) or stop_axis not in (0, -1):
            raise ValueError(
                f"flatten: got the axes {start_axis} and {stop_axis}; a 0-D tensor has 0 and -1 only"
            )
        return x.reshape(1)
    start = one_axis("flatten", start_axis, x.ndim, "start_axis")
    stop = one_axis("flatten", stop_axis, x.ndim, "stop_axis")
    if stop < start:
        raise ValueError(
            f"flatten: stop_axis={stop_axis} comes before start_axis={start_axis}; give them in order"
        )
    return x.reshape(*x.shape[:start], math.prod(x.shape[start : stop + 1]), *x.shape[stop + 1 :])


def expanded_shape(name: str, shape: Any, old: Any) -> tuple[Any, ...]:
    """The shape that an expand asks for: -1 keeps a length; new axes come first."""
    extra = len(shape) - len(old)
    if extra < 0:
        raise ValueError(
            f"{name}: shape: got {list(shape)}, fewer axes than {list(old)}; give one length per axis"
        )
    # A new axis has no length to keep.
    if any(s < -1 or (s == -1 and i < extra) for i, s in enumerate(shape)):
        raise ValueError(
            f"{name}: shape: got {list(shape)} for a tensor of shape {list(old)}; "
            "-1 is for axes the tensor has"
        )
    new = tuple(old[i - extra] if s == -1 else s for i, s in enumerate(shape))
    if any(o not in (1, n) for o, n in zip(old, new[extra:], strict=True)):
        raise ValueError(
            f"{name}: shape: got {list(shape)} for a tensor of shape {list(old)}; "
            "only axes of length 1 can grow"
        )
    return new


@known_as(pir="expand(x,shape:size)", code="shapes:expand")
@op(
    alias={"input": "x", "size": "shape"},
    cases=[
        "f(3), [2, 3]",
        "f(1,3), size=[2, -1]",
        "f(3), [2, -1]",
        "f(), [2]",
        "f(), []",
        "f(1), const([4], 'int64')",
        "f(1,3), [0, 3]",
        "f(3), [-1, 3]",
        "f(3), [2]",
        "f(2,3), [3]",
        "i(1), [3]",
        "b(1,2), [2, 2]",
        "f(1,3), 2, 3",
    ],
)
def expand(x: jax.Array, shape: Any, name: str | None = None) -> jax.Array:
    """Repeats axes of length 1, and adds axes in front, to reach a shape.

    Args:
        x: Tensor [...].
        shape: list, tuple or 1-D int Tensor; -1 keeps the length. The lengths may also be given as
            separate arguments.
    Returns:
        Tensor of the shape.
    Raises:
        ValueError: an axis whose length is not 1 would change, or the shape has too few axes.
    Example:
        >>> paddle.expand(paddle.to_tensor([1, 2]), [2, 2]).tolist()
        [[1, 2], [1, 2]]
    """
    return jnp.broadcast_to(x, expanded_shape("expand", ints("expand", shape, "shape"), x.shape))


expand = variadic(expand)


@known_as(pir="expand(x,shape:size)")
@op(
    alias={"input": "x", "size": "shape"},
    cases=["f(3), [2, 3]", "f(1,3), [2, -1]", "f(), [2]", "f(3), [2]", "f(2,3), [3]"],
)
def broadcast_to(x: jax.Array, shape: Any, name: str | None = None) -> jax.Array:
    """Broadcasts x to a shape. The same as `expand`.

    Args:
        x: Tensor [...].
        shape: list, tuple or 1-D int Tensor; -1 keeps the length.
    Returns:
        Tensor of the shape.
    Example:
        >>> paddle.broadcast_to(paddle.ones([1]), [2, 2]).shape
        paddle.Size([2, 2])
    """
    return jnp.broadcast_to(x, expanded_shape("broadcast_to", ints("broadcast_to", shape, "shape"), x.shape))


broadcast_to = variadic(broadcast_to)


@known_as(code="shapes:expand_as")
@op(
    "x y",
    out="unlisted",
    alias={"input": "x", "other": "y"},
    constant="y",
    cases=["f(1,3), f(2,3)", "f(3), other=f(2,3)", "f(3), i(4,3)", "f(2,3), f(3)", "f(), f(2)"],
)
def expand_as(x: jax.Array, y: jax.Array, name: str | None = None) -> jax.Array:
    """Expands x to the shape of y. See `expand`.

    Args:
        x: Tensor [...].
        y: Tensor whose shape counts.
    Returns:
        Tensor of the shape of y.
    Example:
        >>> paddle.expand_as(paddle.ones([1]), paddle.zeros([2, 2])).shape
        paddle.Size([2, 2])
    """
    return jnp.broadcast_to(x, expanded_shape("expand_as", y.shape, x.shape))


@composite(
    method=True,
    cases=["[f(1,3), f(2,1)]", "[f(2), f(2), f()]", "[f(2), f(3)]", "[f(0,1), f(3)]", "[]", "[f(2), i(2)]"],
    alias={},
)
def broadcast_tensors(input: Any, name: str | None = None) -> list[Tensor]:
    """Broadcasts tensors to their common shape.

    Args:
        input: list or tuple of Tensors.
    Returns:
        List of Tensors.
    Raises:
        ValueError: the shapes do not broadcast, the dtypes differ, or the list is empty.
    Example:
        >>> [t.shape for t in paddle.broadcast_tensors([paddle.ones([2, 1]), paddle.ones([3])])]
        [paddle.Size([2, 3]), paddle.Size([2, 3])]
    """
    if not isinstance(input, list | tuple) or not input or len({numpy_dtype(t) for t in input}) > 1:
        if isinstance(input, list | tuple):
            got = [t.dtype for t in input]
        else:
            got = type(input).__name__
        raise ValueError(f"broadcast_tensors: input: got {got}; it must be a list of Tensors of one dtype")
    try:
        shape = common_shape([t.shape for t in input])
    except ValueError:
        raise ValueError(
            f"broadcast_tensors: input: shapes {[list(t.shape) for t in input]} do not broadcast"
        ) from None
    return [expand(t, shape) for t in input]


@known_as(pir="tile(x,repeat_times:ints)", onnx="Tile(x, repeat_times)")
@op(
    alias={"input": "x", "dims": "repeat_times"},
    cases=[
        "f(2), 2",
        "f(2), [2, 2]",
        "f(2,2), [2]",
        "f(2,2), [0, 1]",
        "f(2,2), const([2, 1], 'int64')",
        "f(2,2), [-1, 1]",
        "f(), [2]",
        "f(), []",
        "i(2,1), (1, 3)",
    ],
)
def tile(x: jax.Array, repeat_times: Any, name: str | None = None) -> jax.Array:
    """Repeats the whole tensor along its axes.

    Args:
        x: Tensor [...].
        repeat_times: int, list, tuple or 1-D int Tensor, the last one for the last axis. `dims` is
            accepted as a name.
    Returns:
        Tensor whose axes are as many times as long.
    Raises:
        ValueError: a number is negative.
    Example:
        >>> paddle.tile(paddle.to_tensor([1, 2]), [2]).tolist()
        [1, 2, 1, 2]
    """
    times = ints("tile", repeat_times, "repeat_times")
    if any(r < 0 for r in times):
        raise ValueError(f"tile: repeat_times: got {list(times)}; the numbers are >= 0")
    return jnp.tile(x, times)


@known_as(cast="never", pir="cast dtype:dtype", onnx="Cast to=dtype")
@op(
    inplace=True,
    cases=[
        "f(3), 'int32'",
        "f(3), paddle.float64",
        "f(3), 'bool'",
        "i(3), float",
        "i(3), 'uint8'",
        "c(3), 'complex128'",
        "b(3), 'float16'",
        "f(2), 'foo'",
        "f(0), 'int64'",
        "u(-300,300,8), 'int8'",
        "u(-300,300,8), 'uint8'",
        "d(2), 'bfloat16'",
        "const([1e3, -1e6, 0.3, float('inf')]), 'float8_e5m2'",
    ],
)
def cast(x: jax.Array, dtype: DTypeLike) -> jax.Array:
    """Converts to another dtype. Floats lose their fraction when they become integers; out-of-range values of
    float to int32 or int64 saturate.

    Args:
        x: Tensor [...].
        dtype: dtype in any spelling: "float32", paddle.float32, np.float32.
    Returns:
        Tensor of the same shape and the other dtype.
    Raises:
        TypeError: the dtype is unknown.
    Example:
        >>> paddle.cast(paddle.to_tensor([1.5, -1.5]), "int32").tolist()
        [1, -1]
    """
    return converted(x, dtypes.convert(dtype).np)


__all__ = [
    "broadcast_tensors",
    "broadcast_to",
    "cast",
    "expand",
    "expand_as",
    "flatten",
    "permute",
    "reshape",
    "squeeze",
    "tile",
    "transpose",
    "unsqueeze",
    "view",
    "view_as",
]
