"""Cutting out parts of a tensor and putting parts in: slices, windows, diagonals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lengths import has_lengths
from paddle_jax._core.ops.op import check_inplace, composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.tensor.axes import concrete, instead, ints, number, one_axis
from paddle_jax.tensor.creation import fill
from paddle_jax.tensor.inner import selecting

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Axes
    from paddle_jax._core.lazy.lengths import Length
    from paddle_jax._core.tensors.views import ViewRule


@known_as(code="indexing:cut")
@op("x starts", register=False, method=False, view=selecting)
def cut(x: jax.Array, starts: jax.Array, sizes: Any) -> jax.Array:
    """The block of the given sizes that begins at `starts`: starts are operands, so that a moving
    window compiles once."""
    return lax.dynamic_slice(x, [starts[i] for i in range(x.ndim)], sizes)


def _cut(x: Tensor, starts: Sequence[int], sizes: Sequence[Length | int]) -> Tensor:
    return cut(x, wrap(np.asarray(starts, np.int64)), tuple(sizes))


def _checked(op: str, x: Tensor, axes: Sequence[int] | int, *lists: Any) -> tuple[Any, ...]:
    """Axes in [0, ndim) and lists of as many ints."""
    if not isinstance(axes, list | tuple) or not axes:
        raise ValueError(f"{op}: axes: got {axes!r}; it must be a list or tuple of one axis or more")
    numbers = [ints(op, values, "starts, ends or strides") for values in lists]
    if any(len(values) != len(axes) for values in numbers):
        raise ValueError(
            f"{op}: got {len(axes)} axes and lists of {[len(v) for v in numbers]} numbers; "
            "give one number per axis"
        )
    return [one_axis(op, a, x.ndim, "axes") for a in axes], *numbers


@known_as(pir="slice axes:i64s infer_flags:i64s decrease_axis:i64s", code="indexing:slice_form")
@composite(
    cases=[
        "f(3,4), [0, 1], [0, 1], [2, 3]",
        "f(3,4), [0, 1], [-2, 1], [100, 3]",
        "f(3,4), [0], [const(1, 'int64')], [const(2, 'int64')]",
        "f(3,4), [0], const([1], 'int64'), const([2], 'int64')",
        "f(3,4), [0], [2], [1]",
        "f(3,4), [0], [5], [9]",
        "f(3,4), [-1], [1], [2]",
        "f(3,4), [0, 1], [1], [2]",
        "f(3,4), 0, 1, 2",
        "i(3,4), [1], [-3], [-1]",
    ]
)
def slice(input: Tensor, axes: Any, starts: Any, ends: Any) -> Tensor:
    """Cuts ranges out of axes.

    Args:
        input: Tensor [...].
        axes: list of axes.
        starts, ends: list (items may be Tensors) or 1-D Tensor, one number per axis; negative counts from the
            end, too large is cut off.
    Returns:
        Tensor with the axes shortened to ends - starts.
    Raises:
        ValueError: an axis is out of range, or the lists differ in length.
    Example:
        >>> paddle.slice(paddle.arange(6), [0], [1], [-1]).tolist()
        [1, 2, 3, 4]
    """
    axes, starts, ends = _checked("slice", input, axes, starts, ends)
    # Numbers made of lengths are put in when the program runs.
    if local.ctx.frame.symbolic and has_lengths((starts, ends, [input.shape[a] for a in axes])):
        return _indexed(input, axes, starts, ends, [1] * len(axes))
    begin = [0] * input.ndim
    sizes = list(input.shape)
    for a, s, e in zip(axes, starts, ends, strict=True):
        begin[a], stop, _ = _range(s, e, 1, input.shape[a])
        # An empty range where the end lies before the start.
        sizes[a] = max(0, stop - begin[a])
    return _cut(input, begin, sizes)


def _range(start: int, stop: int, step: int, length: int) -> tuple[int, int, int]:
    """The bounds that Python's slice rules give; a start below -length begins at the first element."""
    # Python's own rules, which Paddle follows.
    low, high, step = np.s_[start:stop:step].indices(length)
    return low, high, step


def _indexed(
    x: Tensor, axes: Any, starts: Sequence[int], ends: Sequence[Length | int], strides: Sequence[int]
) -> Tensor:
    """The same by an index, where numbers are made of lengths that are not known."""
    item = [np.s_[:]] * x.ndim
    for axis, start, stop, step in zip(axes, starts, ends, strides, strict=True):
        item[axis] = np.s_[start:stop:step]
    return x[tuple(item)]


@known_as(pir="strided_slice axes:i32s", code="indexing:strided_slice")
@composite(
    cases=[
        "f(6), [0], [0], [6], [2]",
        "f(6), [0], [5], [0], [-2]",
        "f(6), [0], [-1], [-7], [-1]",
        "f(6), [0], [1], [3], [0]",
        "f(2,6), [0, 1], [0, 1], [2, 5], [1, 2]",
        "f(6), [0], [4], [2], [1]",
        "f(6), [0], [const(1, 'int64')], [const(5, 'int64')], [const(2, 'int64')]",
        "i(5,3), [0, 1], [-4, 2], [100, -4], [3, -1]",
    ]
)
def strided_slice(
    x: Tensor, axes: Any, starts: Any, ends: Any, strides: Any, name: str | None = None
) -> Tensor:
    """Cuts ranges with steps out of axes. Arguments as for `slice`.

    Args:
        strides: list or Tensor of the steps, not 0; a negative step goes backwards.
        x, axes, starts, ends: as for `slice`.
    Returns:
        Tensor with as many axes as x.
    Raises:
        ValueError: a stride is 0, an axis is out of range, or the lists differ in length.
    Example:
        >>> paddle.strided_slice(paddle.arange(6), [0], [5], [0], [-2]).tolist()
        [5, 3, 1]
    """
    axes, starts, ends, strides = _checked("strided_slice", x, axes, starts, ends, strides)
    if 0 in strides:
        raise ValueError("strided_slice: strides: got 0; a step must not be 0")
    if local.ctx.frame.symbolic and has_lengths((starts, ends, strides, [x.shape[a] for a in axes])):
        return _indexed(x, axes, starts, ends, strides)
    begin = [0] * x.ndim
    sizes = list(x.shape)
    steps = [1] * x.ndim
    for a, s, e, step in zip(axes, starts, ends, strides, strict=True):
        chosen = range(*_range(s, e, step, x.shape[a]))
        # The block begins at the lower end, also for a step backwards.
        begin[a], steps[a] = (min(chosen[0], chosen[-1]), step) if len(chosen) else (0, 1)
        sizes[a] = abs(step) * (len(chosen) - 1) + 1 if len(chosen) else 0
    return every(_cut(x, begin, sizes), tuple(steps))


@known_as(code="indexing:steps")
@op(register=False, method=False, view=selecting)
def every(x: jax.Array, steps: Any) -> jax.Array:
    """Every step-th element along each axis, from the end for negative steps."""
    y = lax.slice(x, [0] * x.ndim, x.shape, [abs(s) for s in steps])
    # A slice of XLA goes forwards alone.
    return lax.rev(y, [i for i, s in enumerate(steps) if s < 0])


@composite(
    cases=[
        "f(3,4), [2, 2], [1, 1]",
        "f(3,4), [2, -1], [1, 1]",
        "f(3,4), [2, 2]",
        "f(3,4), None, [1, 1]",
        "f(3,4), [2, 2], [2, 1]",
        "f(3,4), const([2, 2], 'int64'), const([1, 1], 'int64')",
        "f(3,4), [2], [1]",
        "f(3,4)",
    ]
)
def crop(x: Tensor, shape: Any = None, offsets: Any = None, name: str | None = None) -> Tensor:
    """Cuts a block of a given shape out of a tensor.

    Args:
        x: Tensor [...].
        shape: list, tuple or Tensor of ints, one per axis; -1 takes what is left. Default: the shape of x.
        offsets: where the block begins. Default: zeros.
    Returns:
        Tensor of the given shape.
    Raises:
        ValueError: the block does not lie inside x.
    Example:
        >>> paddle.crop(paddle.to_tensor([[1, 2], [3, 4]]), [1, 2], [1, 0]).tolist()
        [[3, 4]]
    """
    if offsets is None:
        offsets = [0] * x.ndim
    else:
        offsets = ints("crop", offsets, "offsets")
    if shape is None:
        shape = x.shape
    else:
        shape = ints("crop", shape, "shape")
    if len(shape) != x.ndim or len(offsets) != x.ndim:
        raise ValueError(
            f"crop: got {len(shape)} lengths and {len(offsets)} offsets for a tensor of "
            f"{x.ndim} axes; give one per axis"
        )
    sizes = [n - o if s == -1 else s for s, o, n in zip(shape, offsets, x.shape, strict=True)]
    if any(o < 0 or s < 0 or o + s > n for s, o, n in zip(sizes, offsets, x.shape, strict=True)):
        raise ValueError(
            f"crop: a block of shape {sizes} at {list(offsets)} does not lie inside a tensor of "
            f"shape {list(x.shape)}"
        )
    if local.ctx.frame.symbolic and has_lengths((offsets, sizes, x.shape)):
        ends = [o + s for o, s in zip(offsets, sizes, strict=True)]
        return _indexed(x, range(x.ndim), offsets, ends, [1] * x.ndim)
    block = _cut(x, offsets, sizes)
    block._alias = None  # a copy, as in Paddle
    return block


@composite(
    cases=[
        "f(3,4), 0, 1, 2",
        "f(3,4), 1, -2, 2",
        "f(3,4), 1, const(1, 'int64'), 2",
        "f(3,4), 1, 3, 2",
        "f(3,4), 2, 1, 2",
        "f(3,4), 0, 0, -1",
        "f(3,4), -1, 0, 0",
    ]
)
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """The part of an axis that begins at `start` and has `length` elements.

    Args:
        input: Tensor [...].
        dim: int, the axis.
        start: int or Tensor of one int; negative counts from the end.
        length: int.
    Returns:
        Tensor; the axis has `length` elements.
    Raises:
        IndexError: the axis is out of range.
        AssertionError: the part does not lie inside the axis.
    Example:
        >>> paddle.narrow(paddle.arange(5), 0, 1, 3).tolist()
        [1, 2, 3]
    """
    dim = one_axis("narrow", dim, input.ndim, "dim", IndexError)
    size = input.shape[dim]
    start = number("narrow", start, "start")
    at = start + size if start < 0 else start
    if length < 0 or not 0 <= at <= size or at + length > size:
        raise AssertionError(
            f"narrow: start={start}, length={length} does not lie inside an axis of length {size}"
        )
    if local.ctx.frame.symbolic and has_lengths((at, length, size)):
        return _indexed(input, [dim], [at], [at + length], [1])
    begin = [0] * input.ndim
    sizes = list(input.shape)
    begin[dim], sizes[dim] = at, length
    return _cut(input, begin, sizes)


def _without_overlap(layout: Sequence[int], attrs: Sequence[Any]) -> ViewRule | None:
    """`view` of as_strided: where no element is shown twice."""
    reach, (shape, stride, _) = 0, attrs
    if not all(type(n) is int for n in (*shape, *stride)):
        return None
    # From the smallest step on: each has to reach beyond all before.
    for step, length in sorted((abs(step), length) for length, step in zip(shape, stride, strict=False)):
        if length > 1 and step <= reach:
            return None
        reach += step * (length - 1)
    return selecting(layout, attrs)


# the oracle does not add up the gradients of elements that are read twice, and reads beyond the tensor
# without a word
@known_as(code="element_moves:as_strided")
@op(
    view=_without_overlap,
    cases=[
        "~f(2,3), 3, 2",
        "i(6), np.int64(2), np.int64(3)",
        "~f(2,3), [3, 2], [1, 2]",
        "i(2,3), [3, 2], [1, 2]",
        "i(2,3), [2, 2], [1, 1], 8",
        "f(2,3), [2, 2], [3, 1], 4",
        "f(6), [3], [2]",
        "f(6), [], []",
        "i(6), [2, 3], [3, 1]",
    ],
)
def as_strided(x: jax.Array, shape: Any, stride: Any, offset: int = 0, name: str | None = None) -> jax.Array:
    """Reads the elements, which lie in a row, with a shape and steps of one's own: a view where no element
    is shown twice, else a copy.

    Args:
        x: Tensor [...].
        shape: list of ints; an int counts as a list of one.
        stride: list of as many ints: how far apart neighbours along each axis lie, in elements.
        offset: int, where to begin, in bytes as in Paddle.
    Returns:
        Tensor of the given shape.
    Raises:
        ValueError: an element would lie outside x.
    Example:
        >>> paddle.as_strided(paddle.arange(4), [3, 2], [1, 1]).tolist()
        [[0, 1], [1, 2], [2, 3]]
    """
    # Paddle's offset is in bytes.
    at = np.asarray(offset // x.dtype.itemsize)
    for n, s in zip(shape, stride, strict=True):
        # Places of the elements by broadcasting.
        at = at[..., None] + np.arange(n) * s
    if at.size and not 0 <= at.min() <= at.max() < x.size:
        raise ValueError(
            f"as_strided: shape {list(shape)} with stride {list(stride)} and offset {offset} "
            f"leaves a tensor of {x.size} elements"
        )
    return x.reshape(-1)[at]


def _with_lists(public: Callable[..., Any]) -> Callable[..., Any]:
    """Lets an int, or a Tensor of one element, stand for a list of one in `shape` and `stride`."""

    def call(x: Tensor, shape: Any, stride: Any, offset: Any = 0, name: str | None = None) -> Tensor:
        if type(shape) is not list:
            shape = ints("as_strided", shape, "shape")
        if type(stride) is not list:
            stride = ints("as_strided", stride, "stride")
        return public(x, shape, stride, offset, name)

    return instead(public, call, False)


as_strided = _with_lists(as_strided)


def _windows_apart(layout: Sequence[int], attrs: Sequence[int]) -> ViewRule | None:
    """`view` of unfold: where windows do not overlap."""
    _, size, step = attrs
    # Only then does each element belong to one window.
    if type(size) is type(step) is int and step >= size:
        return selecting(layout, attrs)
    return None


# the oracle does not add up the gradients of overlapping windows
@known_as(code="element_moves:unfold")
@op(
    view=_windows_apart,
    alias={"dimension": "axis"},
    cases=[
        "~f(5), 0, 2, 1",
        "i(5), 0, 2, 1",
        "f(5), 0, 2, 2",
        "i(2,5), 1, 3, 2",
        "f(2,5), 0, 3, 2",
        "f(5), 0, 2, 0",
        "f(3,5), -1, 5, 1",
        "i(4), 0, 1, 3",
    ],
)
def unfold(x: jax.Array, axis: Axes, size: Any, step: Any, name: str | None = None) -> jax.Array:
    """All windows of `size` elements along an axis, `step` apart, along a new last axis: a view where
    they do not overlap, else a copy.

    Args:
        x: Tensor [...].
        axis: int. `dimension` is accepted as a name.
        size: int, at most the length of the axis.
        step: int > 0.
    Returns:
        Tensor with one axis more, of length size; the axis has the number of windows as its length.
    Raises:
        ValueError: size or step does not fit.
    Example:
        >>> paddle.unfold(paddle.arange(4), 0, 2, 1).tolist()
        [[0, 1], [1, 2], [2, 3]]
    """
    axis = one_axis("unfold", axis, max(x.ndim, 1))
    length = x.shape[axis] if x.ndim else 1
    if not 0 <= size <= length or step <= 0:
        raise ValueError(
            f"unfold: size={size}, step={step} for an axis of length {length}; "
            "size is at most that and step > 0"
        )
    # A number counts as one element.
    at = np.arange(0, length - size + 1, step)[:, None] + np.arange(size)
    return jnp.moveaxis(jnp.take(x.reshape(x.shape or (1,)), at, axis=axis), axis + 1, -1)


def _plane(op: str, ndim: int, axis1: int, axis2: int, error: Any = IndexError) -> tuple[Any, Any]:
    if ndim < 2:
        raise error(f"{op}: got a tensor of {ndim} axes; it needs at least 2")
    first = one_axis(op, axis1, ndim, "axis1", error)
    second = one_axis(op, axis2, ndim, "axis2", error)
    if first == second:
        raise ValueError(f"{op}: axis1={axis1} and axis2={axis2} are the same; give two axes")
    return first, second


@known_as(pir="diagonal offset:i32 axis1:i32 axis2:i32")
@op(
    view=selecting,
    out="unlisted",
    alias={"input": "x", "dim1": "axis1", "dim2": "axis2"},
    cases=[
        "f(2,3)",
        "f(2,3), 1",
        "f(2,3), 0, 1, 0",
        "f(2,3,4), -1, 1, 2",
        "f(2,3), 5",
        "f(2,3), 0, 0, 0",
        "f(2)",
        "f(2,3), 0, 0, 3",
        "i(3,3), -1",
        "f(2,3,4), axis1=-1, axis2=0",
    ],
)
def diagonal(
    x: jax.Array, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> jax.Array:
    """The diagonals of the planes of two axes, along a new last axis.

    Args:
        x: Tensor of at least 2 axes.
        offset: 0 for the main diagonal, positive above it, negative below.
        axis1, axis2: the plane. `dim1` and `dim2` are accepted as names.
    Returns:
        Tensor of the other axes, and a last one for the diagonal; a view of x.
    Raises:
        IndexError: an axis is out of range.
        ValueError: the axes are the same.
    Example:
        >>> paddle.diagonal(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [1, 4]
    """
    first, second = _plane("diagonal", x.ndim, axis1, axis2)
    # The two axes of the planes come last, where pairs of indices pick.
    rows, columns = _diagonal_at(x.shape[first], x.shape[second], offset)
    return jnp.moveaxis(x, (first, second), (-2, -1))[..., rows, columns]


def _diagonal_at(height: int, width: int, offset: int) -> tuple[np.ndarray, ...]:
    rows = np.arange(max(0, min(height + min(offset, 0), width - max(offset, 0))))
    if offset >= 0:
        return (rows, rows + offset)
    return (rows - offset, rows)


@known_as(code="element_moves:put_diagonal")
@op("x y", register=False, method=False)
def put_diagonal(x: jax.Array, y: jax.Array, offset: int, first: Any, second: Any) -> jax.Array:
    """x with y on a diagonal."""
    rows, columns = _diagonal_at(x.shape[first], x.shape[second], offset)
    planes = jnp.moveaxis(x, (first, second), (-2, -1))
    return jnp.moveaxis(planes.at[..., rows, columns].set(y.astype(x.dtype)), (-2, -1), (first, second))


def _on_diagonal(op: str, x: Tensor, y: Tensor, offset: int, axis1: int, axis2: int) -> Tensor:
    first, second = _plane(op, x.ndim, axis1, axis2)
    want = [n for i, n in enumerate(x.shape) if i not in (first, second)] + [
        len(_diagonal_at(x.shape[first], x.shape[second], offset)[0])
    ]
    if list(y.shape) != want:
        raise AssertionError(f"{op}: y: got shape {list(y.shape)}; the diagonal has shape {want}")
    return put_diagonal(x, y, offset, first, second)


# the oracle gives y no gradient
@composite(cases=["~f(2,3), f(2)", "i(2,3), i(2), 1", "f(2,3), f(3)", "i(2,3,4), i(3,2), 0, 0, 2"])
def diagonal_scatter(
    x: Tensor, y: Tensor, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, name: str | None = None
) -> Tensor:
    """x with y in place of a diagonal. Arguments as for `diagonal`.

    Args:
        y: Tensor of the shape of that diagonal.
        x, offset, axis1, axis2: as for `diagonal`.
    Returns:
        Tensor of the shape of x.
    Raises:
        AssertionError: y has another shape.
    Example:
        >>> paddle.diagonal_scatter(paddle.zeros([2, 2]), paddle.ones([2])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return _on_diagonal("diagonal_scatter", x, y, offset, axis1, axis2)


# the oracle gives y no gradient
@composite(
    inplace=True,
    cases=["~f(3,3), f(3)", "i(3,3), i(2), 1", "i(2,3,3), i(2,3), 0, 1, 2", "f(3,3), f(2)", "i(3,2), i(2)"],
)
def fill_diagonal_tensor(
    x: Tensor, y: Tensor, offset: Any = 0, dim1: Any = 0, dim2: Any = 1, name: str | None = None
) -> Tensor:
    """x with y in place of a diagonal. See `diagonal_scatter`.

    Example:
        >>> paddle.zeros([2, 2]).fill_diagonal_tensor(paddle.ones([2])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return _on_diagonal("fill_diagonal_tensor", x, y, offset, dim1, dim2)


@op("x value", register=False, method=False)
def put_flat(x: jax.Array, value: jax.Array, at: Any) -> jax.Array:
    """x with a value at places of the flattened tensor."""
    return x.reshape(-1).at[np.asarray(at, np.int64)].set(value).reshape(x.shape)


def fill_diagonal_(
    x: Tensor, value: float, offset: int = 0, wrap: bool = False, name: str | None = None
) -> Tensor:
    """Fills the main diagonal in place, shifted by offset columns.

    Args:
        x: Tensor of at least 2 axes (with more than 2 the elements whose indices are all equal).
        value: number.
        offset: int, by how many columns the diagonal is shifted.
        wrap: in a tall matrix begin again below the square part.
    Returns:
        x.
    Raises:
        ValueError: x has fewer than 2 axes.
    Example:
        >>> paddle.zeros([2, 2]).fill_diagonal_(1.0).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    check_inplace("fill_diagonal_", x)
    if x.ndim < 2:
        raise ValueError(f"fill_diagonal_: x: got a tensor of {x.ndim} axes; it needs at least 2")
    # The distance of neighbours on the diagonal in the flattened tensor.
    step = sum(math.prod(x.shape[i + 1 :]) for i in range(x.ndim))
    width = x.shape[-1]
    # Of a tall matrix the diagonal starts again further down where `wrap` is set.
    if wrap or x.ndim > 2:
        end = x.size
    else:
        # A square on top holds the whole diagonal of a tall matrix.
        end = min(x.size, width * width)
    at = tuple(i + offset for i in range(0, end, step) if 0 <= i % width + offset < width)
    from_value = fill("fill_diagonal_", value, numpy_dtype(x))
    return x._adopt(put_flat(x, wrap_value(from_value), at))


def wrap_value(array: Any) -> Tensor:
    """A Tensor of a NumPy or jax scalar."""
    return wrap(jnp.asarray(array))


Tensor.fill_diagonal_ = fill_diagonal_


@known_as(code="indexing:paste")
@op("x value starts", register=False, method=False)
def paste(x: jax.Array, value: jax.Array, starts: jax.Array, sizes: Any, steps: Any) -> jax.Array:
    """x with value, broadcast, in place of the part that `starts`, `sizes` and `steps` describe."""
    spots = [starts[i] + steps[i] * jnp.arange(sizes[i]) for i in range(x.ndim)]
    # Indices of each axis broadcast to the block.
    at = tuple(s.reshape([-1 if j == i else 1 for j in range(x.ndim)]) for i, s in enumerate(spots))
    return x.at[at].set(jnp.broadcast_to(value, sizes).astype(x.dtype))


@composite(
    cases=[
        "f(2,3), f(3), 0, 1",
        "f(2,3), f(2), -1, -1",
        "f(2,3), f(2), 0, 0",
        "f(2,3), f(3), 0, -1",
        "f(2,3,4), f(2,4), 1, 2",
        "f(2,3), f(3), 5, 0",
    ]
)
def select_scatter(x: Tensor, values: Tensor, axis: Any, index: Any, name: str | None = None) -> Tensor:
    """x with `values` in place of one slice.

    Args:
        x: Tensor [...].
        values: Tensor of the shape of the slice.
        axis, index: which slice.
    Returns:
        Tensor of the shape and dtype of x.
    Raises:
        RuntimeError: values has another shape.
        IndexError: the axis or the index is out of range.
    Example:
        >>> paddle.select_scatter(paddle.zeros([2, 2]), paddle.ones([2]), 0, 1).tolist()
        [[0.0, 0.0], [1.0, 1.0]]
    """
    axis = one_axis("select_scatter", axis, x.ndim, error=IndexError)
    want = [n for i, n in enumerate(x.shape) if i != axis]
    if list(values.shape) != want:
        raise RuntimeError(
            f"select_scatter: values: got shape {list(values.shape)}; the slice has shape {want}"
        )
    index = one_axis("select_scatter", index, x.shape[axis], "index", IndexError)
    starts = [0] * x.ndim
    sizes = list(x.shape)
    starts[axis], sizes[axis] = index, 1
    return _paste(x, values.reshape([*want[:axis], 1, *want[axis:]]), starts, sizes, [1] * x.ndim)


def _paste(
    x: Tensor, value: Tensor, starts: Sequence[int], sizes: Sequence[int], steps: Sequence[int]
) -> Tensor:
    return paste(x, value, wrap(np.asarray(starts, np.int64)), tuple(sizes), tuple(steps))


@composite(
    cases=[
        "f(3,4), f(3,2), [1], [0], [4], [2]",
        "f(3,4), f(3,1), [1], [0], [4], [2]",
        "f(3,4), f(2,2), [0, 1], [0, 1], [2, 3], [1, 1]",
        "f(3,4), f(2), [1], [0], [4], [2]",
        "f(3,4), f(3,3), [1], [0], [4], [2]",
    ]
)
def slice_scatter(
    x: Tensor, value: Tensor, axes: Any, starts: Any, ends: Any, strides: Any, name: str | None = None
) -> Tensor:
    """x with `value` in place of the part that `strided_slice` with the same arguments takes.

    Args:
        value: Tensor that broadcasts to that part.
        x, axes, starts, ends, strides: as for `strided_slice`.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: value does not broadcast, or the lists differ in length.
    Example:
        >>> paddle.slice_scatter(paddle.zeros([4]), paddle.ones([2]), [0], [0], [4], [2]).tolist()
        [1.0, 0.0, 1.0, 0.0]
    """
    axes, starts, ends, strides = _checked("slice_scatter", x, axes, starts, ends, strides)
    begin = [0] * x.ndim
    sizes = list(x.shape)
    steps = [1] * x.ndim
    for a, s, e, step in zip(axes, starts, ends, strides, strict=True):
        low, high, steps[a] = _range(s, e, step, x.shape[a])
        begin[a], sizes[a] = low, len(range(low, high, step))
    return _paste(x, value, begin, sizes, steps)


@known_as(code="element_moves:localize")
@op("input", nondiff=True, register=False, method=False)
def localize(input: jax.Array, size: Any, shard_id: int, ignore_value: int) -> jax.Array:
    """Indices relative to a shard, others replaced."""
    # The shard that a number belongs to, and its place there.
    return jnp.where(input // size == shard_id, input % size, jnp.asarray(ignore_value, input.dtype))


@known_as(pir="shard_index index_num:i32 nshards:i32 shard_id:i32 ignore_value:i32")
@composite(
    cases=[
        "const([[16], [1]], 'int64'), 20, 2, 0",
        "const([[16], [1]], 'int64'), 20, 2, 1, -5",
        "const([[16], [1]], 'int64'), 20, 2, 2",
        "const([[26], [1]], 'int64'), 20, 2, 0",
        "const([[-1], [1]], 'int64'), 20, 2, 0",
        "const([[3], [7]], 'int32'), 9, 4, 1",
        "const([3, 7], 'int32'), 9, 4, 1",
    ]
)
def shard_index(input: Tensor, index_num: Any, nshards: Any, shard_id: Any, ignore_value: Any = -1) -> Tensor:
    """Turns indices of the whole into indices inside one shard; those of other shards become ignore_value.

    Args:
        input: int Tensor [..., 1] with values in [0, index_num).
        index_num: how many indices there are in all.
        nshards: into how many shards of ceil(index_num / nshards) they are cut.
        shard_id: which shard.
        ignore_value: int that stands for indices of other shards.
    Returns:
        Tensor of the shape and dtype of input.
    Raises:
        ValueError: shard_id or an index is out of range.
    Example:
        >>> paddle.shard_index(paddle.to_tensor([[16], [1]]), 20, 2, 0).tolist()
        [[-1], [1]]
    """
    if input.ndim < 2:
        raise ValueError(f"shard_index: input: got a tensor of {input.ndim} axes; it needs at least 2")
    if not 0 <= shard_id < nshards:
        raise ValueError(f"shard_index: shard_id={shard_id}; use 0..{nshards - 1}")
    values = concrete(input)
    if values is not None and values.size and not 0 <= values.min() <= values.max() < index_num:
        raise ValueError(
            f"shard_index: input: got values from {values.min()} to {values.max()}; use 0..{index_num - 1}"
        )
    # Rounded up: the last shard may be smaller.
    return localize(input, -(-index_num // nshards), shard_id, ignore_value)
