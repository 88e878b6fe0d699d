"""`x[index]` and `x[index] = value`.

An index becomes a static pattern (which axes are cut, kept, added or gathered, and to which lengths) and
operands (where the cuts start, the index arrays). Kernels are compiled per pattern, so a loop over `x[i]` or
`x[i:i+2]` compiles once. Integers, slices and None come first; index arrays then apply to what is left, which
is Paddle's order (`x[0, :, idx]` keeps the axis order).
"""

from __future__ import annotations

import functools as ft
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base.error_kinds import ARGUMENT_ERRORS, with_kind
from paddle_jax._core.base.size import are_known, is_symbolic
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.execution.fast_path import run1, run2, run3
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.lazy_array import LazyArray, from_numpy, host_numbers
from paddle_jax._core.lazy.lengths import has_lengths
from paddle_jax._core.lazy.recorder import extension
from paddle_jax._core.lazy.transfer import to_numpy_if_ready
from paddle_jax._core.ops.op import check_inplace, composite, op, scalar
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import Tensor, host_value, wrap
from paddle_jax._core.tensors.views import ViewRule
from paddle_jax.tensor.axes import bounds, lies_within, untracked
from paddle_jax.tensor.index_parsing import (
    ALL,
    INSTEAD,
    INT,
    LONGEST,
    NEW,
    cut_of,
    dtype_of,
    host_starts,
    parse,
    starts_of,
)
from paddle_jax.tensor.inner import converted

if TYPE_CHECKING:
    from paddle_jax._core.kernels.kernel import Kernel
    from paddle_jax.tensor.index_parsing import Parsed


def _window(
    x: jax.Array, starts: jax.Array | None, axes: Sequence[Any]
) -> tuple[list[jax.Array], list[Any]] | None:
    """Starts and lengths of the block of x that the integers and slices touch, or None when
    that is all of x."""
    if starts is None:
        return None
    begin = []
    sizes = []
    at = 0
    axis = 0
    for kind in axes:
        # A new axis is none of x.
        if kind[0] == "n":
            continue
        if kind[0] == ":":
            begin.append(0)
            sizes.append(x.shape[axis])
        else:
            begin.append(starts[at])
            # A cut touches all from its first to its last element.
            sizes.append(1 if kind[0] == "i" else _touched(kind[1], abs(kind[2])))
            at += 1
        axis += 1
    # int32 indices are faster, and enough up to 2^31.
    is_long = any(are_known(length) and length > LONGEST for length in x.shape)
    wide = jnp.int64 if is_long else jnp.int32
    return [jnp.asarray(b, wide) for b in begin], sizes


def _touched(count: int, step: int) -> int:
    """How many elements a slice covers that picks `count`."""
    if step == 1:
        return count
    # `max_dim` is the maximum that JAX allows for such lengths.
    if not are_known(count):  # JAX traces for every length
        return jax.core.max_dim((count - 1) * step + 1, 0)
    return (count - 1) * step + 1 if count else 0


def _block(x: jax.Array, begin: Sequence[jax.Array], sizes: Sequence[int]) -> jax.Array:
    # JAX wants proof that the block fits into an axis of any length.
    if not all(map(are_known, x.shape)):
        x = _with_room(x, sizes)
    # counted from the end they are not: see `add_int` and `cut`
    # Indices are not negative any more, so the code that turns them round is left out.
    return lax.dynamic_slice(x, begin, sizes, allow_negative_indices=False)


def _with_room(x: jax.Array, sizes: Sequence[Any]) -> jax.Array:
    """x with zeros behind axes that may be shorter than a block of it. Where they are, the code does not run:
    `x[:, i:i + 2]` has two columns because a condition says so."""
    lengths = [jax.core.max_dim(length, size) for length, size in zip(x.shape, sizes, strict=True)]
    rooms = [(0, length - before, 0) for length, before in zip(lengths, x.shape, strict=True)]
    if all(room == (0, 0, 0) for room in rooms):
        return x
    return lax.pad(x, jnp.zeros([], x.dtype), rooms)


def _steps(axes: Sequence[Any]) -> tuple[slice[Any, Any, Any], ...]:
    """Static slices that pick every step-th element of the window."""
    return tuple(slice(None, None, abs(k[2])) if k[0] == "s" else slice(None) for k in axes if k[0] != "n")


def _reversed(axes: Sequence[Any]) -> list[int]:
    return [a for a, k in enumerate(k for k in axes if k[0] != "n") if k[0] == "s" and k[2] < 0]


def _turned(y: jax.Array, axes: Sequence[Any]) -> jax.Array:
    """With the axes turned round whose slices go backwards."""
    backwards = _reversed(axes)
    if backwards:
        return lax.rev(y, backwards)
    return y


def _view_shape(shape: Sequence[int], axes: Sequence[Any]) -> list[Any]:
    """The shape after integers are dropped and new axes added, from the shape with an entry for
    every axis of x."""
    lengths = iter(shape)
    out = []
    for kind in axes:
        if kind[0] == "n":
            out.append(1)
        else:
            length = next(lengths)
            out += [] if kind[0] == "i" else [length]
    return out


def _read(
    x: jax.Array, starts: jax.Array | None, axes: Sequence[Any]
) -> tuple[jax.Array | Any, tuple[int, ...] | Any]:
    window = _window(x, starts, axes)
    y = x if window is None else _block(x, *window)
    y = _turned(y[_steps(axes)], axes)
    return y.reshape(_view_shape(y.shape, axes)), y.shape


def _gather_index(ndim: int, arrays: Sequence[jax.Array], slots: Sequence[int]) -> tuple[Any, ...]:
    index = [slice(None)] * ndim
    for slot, array in zip(slots, arrays, strict=True):
        index[slot] = array
    return tuple(index)


def _put_back(layout: Sequence[int], attrs: Sequence[Any]) -> ViewRule | None:
    """What puts a part back. What index arrays have chosen is a copy, and so is a single element, which is
    most often a number on the host."""
    axes = [axis for axis in attrs[0] if axis != NEW]
    # An array of indices, or a single element: a copy in Paddle, too.
    if layout[-1] or axes and all(axis == INT for axis in axes):
        return None
    # Leading integers choose a block that lies in one piece.
    rest = itertools.dropwhile(lambda axis: axis == INT, axes)
    first = next(rest, ALL)  # after which all axes have to be whole
    dense = all(axis == ALL for axis in rest) and (first == ALL or first[2] == 1)
    return ViewRule(ft.cache(lambda kernel: put_index.op.kernel((-2, *layout), attrs)), dense)


@known_as(code="indexing:take_index", node="slice")
@op("x starts *arrays", register=False, method=False, view=_put_back)
def take_index(
    x: jax.Array,
    starts: jax.Array | None = None,
    arrays: Sequence[jax.Array] = (),
    axes: Any = (),
    slots: Any = (),
) -> jax.Array:
    """x[index] for a parsed index."""
    y, _ = _read(x, starts, axes)
    if arrays:
        return y[_gather_index(y.ndim, arrays, slots)]
    return y


@known_as(
    pir="set_value_with_tensor_|set_value_with_tensor axes:i64s decrease_axes:i64s none_axes:i64s",
    code="indexing:put_index",
)
@op("x value starts *arrays", register=False, method=False)
def put_index(
    x: jax.Array,
    value: jax.Array,
    starts: jax.Array | None = None,
    arrays: Sequence[jax.Array] = (),
    axes: Any = (),
    slots: Any = (),
) -> jax.Array:
    """x with x[index] = value for a parsed index."""
    value = converted(value, x.dtype)
    y, full = _read(x, starts, axes)
    if arrays:
        y = y.at[_gather_index(y.ndim, arrays, slots)].set(_fit(value, y, arrays, slots))
    else:
        # As NumPy: leading axes of length 1 of the value do not count.
        y = jnp.broadcast_to(_trim(value, y.shape), y.shape)
    y = _turned(y.reshape(full), axes)
    window = _window(x, starts, axes)
    if window is None:
        return y
    begin, sizes = window
    # Every element of the window is replaced, so the old ones need not be read.
    if tuple(y.shape) == tuple(sizes):
        block = y
    else:
        block = _block(x, begin, sizes).at[_steps(axes)].set(y)
    return lax.dynamic_update_slice(x, block, begin, allow_negative_indices=False)


def _fit(value: jax.Array, y: jax.Array, arrays: Sequence[jax.Array], slots: Sequence[int]) -> jax.Array:
    # Only the shape is wanted, so nothing is computed.
    target = jax.eval_shape(lambda a: a[_gather_index(y.ndim, arrays, slots)], y).shape
    return jnp.broadcast_to(_trim(value, target), target)


def _trim(value: jax.Array, target: Sequence[int]) -> jax.Array:
    """Drops leading axes of length 1 that the target does not have; refuses what cannot be broadcast."""
    while value.ndim > len(target) and value.shape[0] == 1:
        value = value[0]
    fits = value.ndim <= len(target) and all(
        v in (1, t) for v, t in zip(reversed(value.shape), reversed(target), strict=False)
    )
    if not fits:
        raise ValueError(
            f"Tensor index: the value has shape {list(value.shape)}; it must broadcast to {list(target)}"
        )
    return value


@known_as(code="indexing:put_mask")
@op("x mask value", register=False, method=False)
def put_mask(x: jax.Array, mask: jax.Array, value: jax.Array) -> jax.Array:
    """x with value where the mask is True."""
    # The mask covers the first axes; the others follow.
    mask = mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim))
    return jnp.where(mask, converted(value, x.dtype), x)


def _plain(item: Any) -> bool:
    """Whether a slice has bounds and a step that are ints or missing."""
    start = item.start
    stop = item.stop
    step = item.step
    return (
        (start is None or type(start) is int)
        and (stop is None or type(stop) is int)
        and (step is None or type(step) is int)
    )


def _is_position(item: Tensor, length: Any) -> Any:
    """Whether a Tensor holds integers, one at the least, that are all positions on an axis."""
    raw = held_value(item)
    # uint8 is a mask in older programs.
    if raw.dtype.kind not in "iu" or raw.dtype == np.uint8 or not raw.ndim or not raw.size:
        return False
    if lies_within(item, -length, length):
        return True
    # Only what the host knows already is looked at; the device is not waited for.
    found = bounds(item)
    return found is not None and found[0] >= -length and found[1] < length


class _Quick:
    """An index of plain integers, slices, None, `...` and Tensors of positions, item by item.

    Attributes:
        shape: shape of the Tensor that is indexed.
        axes: how each axis is taken: INT, NEW, ALL or a cut.
        starts: the integers, and the first positions of slices that are not whole.
        slots: places of the arrays among the axes that the integers leave.
        arrays: the Tensors of positions.
        axis: the axis that the next item is for.
        integers: how many items were integers.
    """

    __slots__ = ("arrays", "axes", "axis", "integers", "shape", "slots", "starts")

    def __init__(self, shape: Any) -> None:
        self.shape = shape
        self.axes = []
        self.starts = []
        self.slots = []
        self.arrays = []
        self.axis = 0
        self.integers = 0

    def add(self, item: Any) -> bool:
        """Takes an item; False where `parse` has to look at the index, or refuses it."""
        if item is None:
            self.axes.append(NEW)
            return True
        # Too many items: `parse` raises the error.
        if self.axis >= len(self.shape):
            return False
        length = self.shape[self.axis]
        kind = type(item)
        if kind is int:
            fits = self._add_integer(item, length)
        elif kind is slice:
            fits = self._add_slice(item, length)
        else:
            fits = kind is Tensor and self._add_positions(item, length)
        self.axis += 1
        return fits

    def _add_integer(self, item: int, length: int) -> bool:
        if not -length <= item < length:
            return False
        # From the front, so that one compiled kernel serves both signs.
        self.starts.append(item % length)
        self.axes.append(INT)
        self.integers += 1
        return True

    def _add_slice(self, item: Any, length: int) -> bool:
        if not _plain(item):
            return False
        cut, start = cut_of(item, length)
        self.axes.append(cut)
        # A whole axis needs no operand.
        if cut is not ALL:
            self.starts.append(start)
        return True

    def _add_positions(self, item: Tensor, length: Any) -> bool:
        if not _is_position(item, length):
            return False
        # The axis in the result: each integer before it has dropped one.
        self.slots.append(len(self.axes) - self.integers)
        self.arrays.append(item)
        self.axes.append(ALL)
        return True

    def add_all(self, count: Any) -> None:
        """Takes so many axes whole."""
        self.axes.extend([ALL] * count)
        self.axis += count


def _quick(
    index: Any, shape: Sequence[int]
) -> tuple[tuple[Any, ...], tuple[Any, ...], Any | None, list[Any]] | None:
    """(axes, slots, starts, arrays) of an index of plain integers, slices, None, `...` and Tensors of
    positions; None where `parse` has to look, or refuse."""
    items = index if type(index) is tuple else (index,)
    quick = _Quick(shape)
    for item in items:
        if item is Ellipsis:
            # `...` itself is among the items; None takes no axis.
            missing = len(shape) - sum(i is not None for i in items) + 1
            if missing < 0 or sum(i is Ellipsis for i in items) > 1:
                return None
            quick.add_all(missing)
        elif not quick.add(item):
            return None
    quick.add_all(len(shape) - quick.axis)
    # A length that is not known when the program is built needs `parse`.
    if any(map(is_symbolic, quick.starts)):
        return None
    if quick.starts:
        # Starts are operands, so that each place does not compile a program.
        starts = host_starts(tuple(quick.starts))
    else:
        starts = None
    return tuple(quick.axes), tuple(quick.slots), starts, quick.arrays


class _Pattern:
    """An index of integers, slices, None and `...` for one shape. kind: stands for all that needs the same
    kernel, whatever the starts; hashing the axes each time would take longer than recording."""

    __slots__ = ("axes", "kind", "operands")

    def __init__(self, axes: Any, starts: Tensor | None) -> None:
        self.axes, self.operands = axes, () if starts is None else (starts,)
        # Patterns with the same kind share a kernel.
        self.kind = _kind(axes, starts is None)

    def kernel(self, op: Callable[..., Any], operands: Any) -> Kernel:
        """That of take_index, or put_index, with so many Tensors before the starts."""
        return op.fast.get(self.kind) or op.remember(
            self.kind, op.kernel((*[-2] * operands, -2 if self.operands else -1, 0), (self.axes, ()))
        )


@ft.lru_cache(maxsize=8192)
def _kind(axes: Sequence[Any], whole: bool) -> Any:
    # A fresh object, kept by the cache: it compares by identity, which is the fastest key.
    return object()


# The same slices come in each step, and their parsing costs more than the operation.
@ft.lru_cache(maxsize=8192)
def _one_slice(
    start: int | None, stop: int | None, step: int | None, shape: Sequence[int]
) -> _Pattern | None:
    return _pattern(slice(start, stop, step), shape)


@ft.lru_cache(maxsize=8192)
def _several_slices(key: Sequence[int], shape: Sequence[int]) -> _Pattern | None:
    return _pattern(tuple([slice(*i) if type(i) is tuple else i for i in key]), shape)


def _pattern(item: Any, shape: Sequence[int]) -> _Pattern | None:
    parts = _quick_or_none(item, shape)
    if parts is None:
        return None
    return _Pattern(parts[0], parts[2])


def _pattern_of(item: Any, shape: Sequence[int]) -> _Pattern | None:
    """The pattern of a slice or tuple of plain items; else None."""
    if type(item) is slice:
        if _plain(item):
            return _one_slice(item.start, item.stop, item.step, shape)
        return None
    key = _index_key(item)
    if key is None:
        return None
    return _several_slices(key, shape)


def _key_in_python(items: Sequence[Any]) -> tuple[Any, ...] | None:
    """A key of an index of plain items; else None. Tuples stand for slices, which have no hash before Python
    3.12."""
    key = []
    for each in items:
        kind = type(each)
        if kind is int or each is None or each is Ellipsis:
            key.append(each)
        elif kind is slice and _plain(each):
            key.append((each.start, each.stop, each.step))
        else:
            return None
    return tuple(key)


_index_key = _key_in_python if extension is None else extension.index_key


def _quick_or_none(
    item: Any, shape: Sequence[int]
) -> tuple[tuple[Any, ...], tuple[Any, ...], Any | None, list[Any]] | None:
    try:
        return _quick(item, shape)
    except (TypeError, ValueError):  # Tensors in slices, arrays in tuples
        return None


@ft.cache
def _row_kernel(op: Callable[..., Any], ndim: int) -> Kernel:
    """The kernel of x[i], or x[i] = value, for an integer."""
    return op.kernel((*[-2] * len(op.tensors[:-1]), 0), ((INT, *[ALL] * (ndim - 1)), ()))


def link_rows(rows: Sequence[Tensor], x: Tensor, axis: Any) -> None:
    """Lets Tensors that an operation took from each place of an axis be views, as x[i] is one; single
    elements stay copies."""
    axes = tuple(INT if a == axis else ALL for a in range(x.ndim))
    kernel = take_index.op.kernel((-2, -2, 0), (axes, ()))
    # Without a rule for views the rows stay copies.
    if kernel.view is not None:
        register_view = local.ctx.frame.register_view
        for i, row in enumerate(rows):
            register_view(row, x, kernel, (host_starts((i,)),))


# Functions for few operands, which need no tuple.
_SHORT = {1: run1, 2: run2, 3: run3}
_CUTS = (slice, tuple)


def run_pattern(
    op: Callable[..., Any],
    operands: Sequence[Tensor],
    axes: Sequence[Any],
    slots: Sequence[int],
    starts: Tensor | None,
    arrays: Sequence[Tensor],
) -> Tensor:
    """Runs take_index or put_index; the kernel of a pattern is looked up directly, since indexing is what
    eager loops do most."""
    # Numbers made of lengths are put in when the program runs.
    if local.ctx.frame.symbolic and has_lengths(axes):
        return local.ctx.frame.call_with_lengths(op, (*operands, starts, arrays), (axes, slots))
    key = (axes, slots, starts is not None)
    kernel = op.fast.get(key)
    if kernel is None:
        kernel = op.remember(
            key, op.kernel((*[-2] * len(operands), -1 if starts is None else -2, len(arrays)), (axes, slots))
        )
    if starts is None:
        operands = (*operands, *arrays)
    else:
        operands = (*operands, starts, *arrays)
    short = _SHORT.get(len(operands))
    if short is None:
        return run(kernel, operands)
    return short(kernel, *operands)


def _run_parsed(op: Callable[..., Any], operands: Sequence[Tensor], found: Parsed) -> Tensor:
    starts = starts_of(found) if found.starts else None
    return run_pattern(
        op, operands, tuple(found.axes), tuple(found.slots), starts, [wrap(a) for a in found.arrays]
    )


def _chosen(x: Tensor, mask: Tensor) -> Tensor:
    """x[mask] by NumPy: each number of elements would be a program of its own to compile."""
    # NumPy picks faster than XLA can compile.
    chosen = host_value(x, "a bool mask as an index")[host_value(mask, "a bool mask as an index", INSTEAD)]
    return wrap(from_numpy(chosen))


def _element(x: Tensor, item: Sequence[int]) -> Tensor | None:
    """x[item] as a host number, for an integer on each axis of a Tensor that the host can look at: nothing is
    recorded, run or compiled for it, which is what loops over elements need. None where it has to
    be an operation."""
    ctx = local.ctx
    value = held_value(x)
    # Whatever cannot be looked at for free is left to the usual way.
    if (
        type(value) is not LazyArray
        or ctx.segment is None
        or not ctx.frame.eager
        or value.aval.weak
        or not untracked(x)
    ):
        return None
    # Other numbers, and those out of range, get the usual checks.
    for i in item:
        if type(i) is not int:
            return None
    array = to_numpy_if_ready(value)
    if array is None:
        return None
    try:
        number = array.item(*item)
    except (IndexError, OverflowError):  # the usual checks say what is allowed
        return None
    return wrap(host_numbers((number,), aval_of((), value.aval.dtype)))


# methods ----------------------------------------------------------------------------------------------------


@composite(
    method="__getitem__",
    cases=[
        "f(2,3,4), 0",
        "f(2,3,4), (0, -1)",
        "f(2,3,4), (slice(None), slice(1, None), slice(None, None, 2))",
        "f(2,3), slice(None, None, -1)",
        "f(4), slice(5, 1)",
        "f(2,3), None",
        "f(2,3), (Ellipsis, 0)",
        "f(2,3,4), idx(2, 3)",
        "f(2,3,4), (idx(2, 2), idx(3, 2))",
        "f(2,3,4), (idx(2, 2), slice(None), idx(4, 2))",
        "f(2,3,4), (0, slice(None), idx(4, 2))",
        "f(2,3), [0, 1]",
        "f(2,3), b(2,3)",
        "f(2,3), b(2)",
        "f(2,3), (slice(None), const([True, False, True]))",
        "f(2,3), True",
        "f(2,3), False",
        "f(2,3), const(1)",
        "f(2,3), np.int64(1)",
        "i(2,3), (1, 2)",
        "f(2,3), 2",
        "f(2,3), (0, 0, 0)",
        "f(2,3), 1.5",
        "f(2,3), 'a'",
        "f(2,3), const([True, False, True])",
        "f(2,3), (Ellipsis, Ellipsis)",
        "f(0,3), slice(0, 2)",
        "d(5), slice(4, 0, -2)",
        "c(3), 1",
    ],
)
def getitem(x: Tensor, item: Any) -> Tensor:
    """Selects a part of a tensor: `x[item]`.

    Args:
        x: Tensor [...].
        item: integer, slice, ..., None, bool, list, NumPy array or Tensor of integers or bools, or a tuple of
            these. Integers and slices apply first, index arrays to the axes that are left.
    Returns:
        Tensor of the same dtype: a view (of integers and slices), or a copy (of index arrays and masks, and
        of single elements).
    Raises:
        IndexError: an index is out of range, there are too many, or a mask has the wrong shape.
        ValueError: an item is of another type, a step is 0, or `...` is given twice.
    Example:
        >>> x = paddle.to_tensor([[1, 2, 3], [4, 5, 6]])
        >>> x[1].tolist(), x[:, ::2].tolist(), x[x > 4].tolist()
        ([4, 5, 6], [[1, 3], [4, 6]], [5, 6])
    """
    raw = held_value(x)
    shape = raw.aval.shape if type(raw) is LazyArray else raw.shape
    if local.ctx.frame.symbolic and has_lengths((item, shape)):
        return _run_parsed(take_index.op, (x,), parse(item, shape))
    # The usual cases first: one integer is what loops over rows ask for.
    if type(item) is int and shape and -shape[0] <= item < shape[0]:
        if len(shape) == 1 and (found := _element(x, (item,))) is not None:
            return found
        return run2(_row_kernel(take_index.op, len(shape)), x, host_starts((item % shape[0],)))
    # Both ends are looked at, as a cheap guess for integers all along.
    numbers = type(item) is tuple and 0 < len(item) == len(shape) and type(item[0]) is type(item[-1]) is int
    if numbers and (found := _element(x, item)) is not None:
        return found
    # Slices and tuples of plain items: their kernel is remembered.
    if type(item) in _CUTS and (pattern := _pattern_of(item, shape)) is not None:
        kernel = pattern.kernel(take_index.op, 1)
        if pattern.operands:
            return run2(kernel, x, *pattern.operands)
        return run1(kernel, x)
    if (
        # A mask without gradients: NumPy picks, as the number of elements is not known to XLA.
        type(item) is Tensor
        and numpy_dtype(item) == np.bool_
        and plain_shape(item) == shape[: item.ndim]
        and item.ndim
        and untracked(x)
    ):
        return _chosen(x, item)
    quick = _quick_or_none(item, shape)
    if quick is not None:
        return run_pattern(take_index.op, (x,), *quick)
    return _run_parsed(take_index.op, (x,), parse(item, shape))


def _is_mask(item: Any) -> bool:
    """Whether an index is an array of bools."""
    if type(item) is Tensor:
        raw = held_value(item)
        return raw.dtype.kind == "b" and len(raw.shape) > 0
    return isinstance(item, Tensor | np.ndarray) and dtype_of(item) == np.bool_ and item.ndim > 0


def _assigned(value: Any, x: Tensor) -> Tensor:
    """The right-hand side as a Tensor."""
    if isinstance(value, Tensor):
        return value
    if local.ctx.frame.symbolic and has_lengths(value):
        return local.ctx.frame.tensor_of(value, numpy_dtype(x))
    if isinstance(value, bool | int | float | complex | np.ndarray | np.generic | jax.Array):
        if isinstance(value, complex | np.complexfloating) and numpy_dtype(x).kind not in "bc":
            raise ValueError(
                f"Tensor index: the value is complex and the tensor is {numpy_dtype(x)}; "
                "use its real part, or a complex tensor"
            )
        # NumPy would wait for the device.
        if isinstance(value, jax.Array):
            array = value
        else:
            array = np.asarray(value)
        # V is the kind of bfloat16 and of float8.
        if array.dtype.kind in "biufcV":
            return wrap(converted(array, numpy_dtype(x)))
    raise ValueError(
        f"Tensor index: the value is {value!r:.60}; allowed are Tensor, numpy.ndarray, numbers and bools"
    )


def setitem(x: Tensor, item: Any, value: Any) -> None:
    """Replaces a part of a tensor in place: `x[item] = value`. Gradients flow to the value and to
    what is left of x.

    Args:
        x: Tensor [...].
        item: as for reading.
        value: Tensor, NumPy array or number that broadcasts to the shape of x[item]; cast to the dtype of x.
    Raises:
        ValueError: the value does not broadcast, or x is a leaf that needs a gradient.
        IndexError: as for reading.
    Example:
        >>> x = paddle.zeros([2, 3]); x[0, 1:] = 5.0; x.tolist()
        [[0.0, 5.0, 5.0], [0.0, 0.0, 0.0]]
    """
    check_inplace("__setitem__", x)
    try:
        if not isinstance(value, Tensor):
            # A number is an operand of the dtype of x, so that each value does not compile a program.
            if type(value) in (int, float) and numpy_dtype(x).kind == "f":
                value = scalar(value, numpy_dtype(x))
            else:
                value = _assigned(value, x)
        raw = held_value(x)
        shape = raw.aval.shape if type(raw) is LazyArray else raw.shape
        if local.ctx.frame.symbolic and has_lengths((item, shape)) and not _is_mask(item):
            x._adopt(_run_parsed(put_index.op, (x, value), parse(item, shape)))
            return
        # The quick ways first: one row, plain slices, simple tuples.
        if type(item) is int and shape and -shape[0] <= item < shape[0]:
            x._adopt(run3(_row_kernel(put_index.op, len(shape)), x, value, host_starts((item % shape[0],))))
            return
        if type(item) in _CUTS and (pattern := _pattern_of(item, shape)) is not None:
            operands = (x, value, *pattern.operands)
            x._adopt(_SHORT[len(operands)](pattern.kernel(put_index.op, 2), *operands))
            return
        is_mask = _is_mask(item)
        quick = None if is_mask else _quick_or_none(item, shape)
        if quick is not None:
            x._adopt(run_pattern(put_index.op, (x, value), *quick))
            return
        fits = is_mask and tuple(item.shape) == shape[: item.ndim]
        # A value for each place is a choice by the mask, with a shape that is known.
        if fits and value.ndim <= len(shape) - item.ndim:
            result = put_mask(x, item if isinstance(item, Tensor) else wrap(item), value)
        else:
            result = _run_parsed(put_index.op, (x, value), parse(item, shape))
        x._adopt(result)
    # The message names `__setitem__` in place of the inner operation.
    except ARGUMENT_ERRORS as error:
        with_kind("__setitem__", error)
        raise


Tensor.__setitem__ = setitem
