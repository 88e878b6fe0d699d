"""From an index to its pattern and operands, as `indexing` describes them; what is no index, or lies outside,
is refused here."""

from __future__ import annotations

import functools as ft
import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.size import are_known, is_symbolic
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.value_checks import add_range_check, traced_value
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.lazy_array import host_numbers
from paddle_jax._core.lazy.length_expressions import bounds
from paddle_jax._core.lazy.lengths import expression_of, extreme, has_lengths, is_length, select
from paddle_jax._core.lazy.symbol import ABSTRACT_TYPES
from paddle_jax._core.tensors.held_values import element_count, holds_abstract, holds_symbol, numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, host_value, wrap
from paddle_jax.tensor.search import nonzero

if TYPE_CHECKING:
    from paddle_jax._core.lazy.lengths import Length


# an axis that an integer removes, one that stays whole, a new one; ("s", length, step) is cut
INT = ("i",)
ALL = (":",)
NEW = ("n",)
INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
LONGEST = (1 << 31) - 1  # length of an axis up to which places are int32
ALLOWED = "allowed are integers, slices, ..., None, bools, and lists, arrays or Tensors of bools or integers"


class Parsed:
    """The pattern and operands of an index on a shape.

    Attributes:
        axes: list of tuples, one for each kept or new axis.
        starts: list of where each integer and each slice starts.
        dtype: dtype of these.
        arrays: list of index arrays.
        slots: list of the axis that each of them applies to.
        out: int, how many axes the result has so far.
    """

    def __init__(self) -> None:
        # per kept axis of x: ("i",), (":",), ("s", length, step) in order, with ("n",) for new axes between
        self.axes: list[Any] = []
        self.starts: list[Any] = []  # where each ("i") and ("s") starts
        self.dtype = INT32  # of these
        self.arrays: list[Any] = []  # index arrays
        # the axis, counted after integers are removed and new axes added, each index array applies to
        self.slots: list[Any] = []
        self.out = 0  # how many such axes there are so far


def _error(item: Any) -> ValueError:
    return ValueError(f"Tensor index: got {type(item).__name__}; {ALLOWED}")


def _expand(index: Any, ndim: int) -> list[Any]:
    """The index as a list with Ellipsis replaced and missing axes added."""
    items = list(index) if isinstance(index, tuple) else [index]
    # The usual case: nothing is missing and nothing needs a conversion.
    if len(items) == ndim and all(type(i) is int or type(i) is slice for i in items):
        return items
    items = [np.asarray(i) if isinstance(i, list | tuple | range) else i for i in items]
    if sum(i is Ellipsis for i in items) > 1:
        raise ValueError("Tensor index: got more than one '...'; at most one is allowed")
    used = sum(_axes_used(i) for i in items)
    if used > ndim:
        raise _too_many(items, ndim, used)
    at = next((k for k, i in enumerate(items) if i is Ellipsis), None)
    full = [slice(None)] * (ndim - used)
    # Axes behind the index stay whole.
    if at is None:
        return [*items, *full]
    return [*items[:at], *full, *items[at + 1 :]]


def _too_many(items: Sequence[Any], ndim: int, used: int) -> IndexError | ValueError:
    """Paddle's exception: IndexError for an integer or a mask beyond the axes, ValueError for a slice
    or an index array."""
    axis = 0
    error = ValueError
    for item in items:
        axis += _axes_used(item)
        # The first index too many decides, as it does in Paddle.
        if axis > ndim or item is Ellipsis:
            is_position = isinstance(item, numbers.Integral) or (
                hasattr(item, "dtype") and (item.ndim == 0 or dtype_of(item) == np.bool_)
            )
            error = IndexError if is_position else ValueError
            break
    return error(
        f"Tensor index: got {used} indices for a tensor of {ndim} axes; use at most {ndim}, "
        "or None to add axes"
    )


def _axes_used(item: Any) -> int:
    if item is None or item is Ellipsis or isinstance(item, bool | np.bool_):
        return 0
    dtype = getattr(item, "dtype", None)
    is_bool = dtype == np.bool_ or (isinstance(item, Tensor) and numpy_dtype(item) == np.bool_)
    if is_bool:
        # A mask takes as many axes as it has.
        return item.ndim
    return 1


def parse(index: Any, shape: Any) -> Parsed:
    """Analyses an index on a shape."""
    found = Parsed()
    axis = 0
    # Positions beyond 2^31 need int64.
    if any(type(length) is int and length > LONGEST for length in shape):
        found.dtype = INT64
    for item in _expand(index, len(shape)):
        axis += _add(found, item, axis, shape)
    return found


def _add(found: Parsed, item: Any, axis: int, shape: Sequence[int]) -> int:
    """Takes in one item; returns how many axes of x it uses."""
    # The usual case first; other integers come below.
    if type(item) is int:
        return add_int(found, item, axis, shape[axis])
    # A length that JAX traces for all values.
    if is_symbolic(item):
        return _add_open_int(found, item, shape[axis])
    if item is None:
        found.axes.append(("n",))
        found.out += 1
        return 0
    if isinstance(item, slice):
        return _add_slice(found, item, shape[axis])
    # Before the integers, since bool is one of them.
    if isinstance(item, bool | np.bool_) or (hasattr(item, "dtype") and dtype_of(item) == np.bool_):
        return _add_mask(found, item, axis, shape)
    if isinstance(item, numbers.Integral) or (hasattr(item, "dtype") and item.ndim == 0):
        return add_int(found, item, axis, shape[axis])
    if hasattr(item, "dtype"):
        return _add_array(found, item, axis, shape[axis])
    raise _error(item)


INSTEAD = "use paddle_jax.bounded.masked_select(x, mask, size) there, or where()"


def value_of(item: Any) -> jax.Array:
    """The array of an item of an index."""
    if isinstance(item, Tensor):
        return item._value
    return item


def dtype_of(item: Any) -> np.dtype:
    """The NumPy dtype of an array or Tensor in an index."""
    if isinstance(item, Tensor):
        return numpy_dtype(item)
    return item.dtype


def _traced(item: Any) -> bool:
    if isinstance(item, Tensor):
        return holds_abstract(item)
    return isinstance(item, ABSTRACT_TYPES)


def _outside(low: int, high: int, axis: int, length: int) -> IndexError:
    bad = low if low < -length else high
    return IndexError(
        f"Tensor index: {bad} is out of range for axis {axis} of length {length}; use {-length}..{length - 1}"
    )


def _checked_later(item: Tensor, axis: int, length: int) -> None:
    """In a compiled function: has the program check the positions when it runs."""
    # A tracer is checked by the program itself.
    if isinstance(item, Tensor) and are_known(length):
        value = traced_value(item)
    else:
        value = None
    if value is not None:
        add_range_check(value, -length, length, lambda low, high: _outside(low, high, axis, length))


def add_int(found: Parsed, item: Any, axis: Any, length: Any) -> int:
    """Adds an integer to the pattern; returns how many axes it takes."""
    if type(item) is not int and hasattr(item, "dtype") and dtype_of(item).kind not in "iu":
        raise _error(item)
    if is_length(item) or is_length(length):
        # Numbers made of lengths are computed when the program runs.
        if not isinstance(item, Tensor):
            found.starts.append(place_of(item, length))
            found.axes.append(("i",))
            return 1
    if type(item) is not int and _traced(item):
        if isinstance(item, Tensor) and holds_symbol(item):
            # A Symbol: the choice by sign becomes operations of the program.
            found.starts.append((item + (item < 0).astype(dtype_of(item)) * length).reshape([]))
        else:
            _checked_later(item, axis, length)
            start = value_of(item).astype(jnp.promote_types(dtype_of(item), found.dtype))
            # Negative ones count from the end.
            found.starts.append(jnp.where(start < 0, start + length, start))
    else:
        start = int(item)
        if not are_known(length):
            found.starts.append(start if start >= 0 else start + length)
        elif not -length <= start < length:
            raise _outside(start, start, axis, length)
        else:
            found.starts.append(start % length)
    found.axes.append(("i",))
    return 1


def _bound(value: Any) -> Any:
    """A bound of a slice as an int or None."""
    if value is None or type(value) is int or is_symbolic(value) or is_length(value):
        return value
    # In a static program the value of a Tensor is a length that the run knows.
    if local.ctx.frame.symbolic and isinstance(value, Tensor) and element_count(value) == 1:
        return local.ctx.frame.numbers_of(value.reshape([]))
    of_one = isinstance(value, Tensor) and element_count(value) == 1 and numpy_dtype(value).kind in "iu"
    if not of_one and (not isinstance(value, numbers.Integral) or isinstance(value, bool)):
        if isinstance(value, Tensor):
            got = f"a Tensor of dtype {numpy_dtype(value)} and shape {list(value.shape)}"
        else:
            got = type(value).__name__
        raise ValueError(
            f"Tensor index: got {got} in a slice; allowed are None, integers and integer "
            "Tensors of one element"
        )
    return int(value)


def cut_of(item: Any, length: Length | int) -> tuple[Any, ...]:
    """What a slice of integers does to an axis, as an entry of the pattern, and the least
    position it picks."""
    if has_lengths((length, item)):
        return cut_of_lengths(item, length)
    if not are_known(length, *[b for b in (item.start, item.stop) if b is not None]):
        return _open_cut(item, length)
    start, stop, step = item.indices(length)
    if step == 1:
        # The step is 1 nearly always, which needs no `range`.
        count = stop - start if stop > start else 0
    else:
        count = len(range(start, stop, step))
        # Backwards: the block begins at its last element, and is turned round.
        start += (count - 1) * step if step < 0 and count else 0
        # One element has no step.
        if not (count > 1):
            step = 1
    return (ALL if count == length and step == 1 else ("s", count, step)), start


def place_of(position: Length | int, length: Length | int) -> Length | int:
    """A position counted from the front, where it or the length is a Length."""
    return select(position < 0, position + length, position)


def _end_of(bound: Length | int, length: Length) -> Length | int:
    """A bound of a slice, counted from the front and within the axis."""
    low, _ = bounds(expression_of(bound))
    # A bound that is known to be positive needs no choice.
    if low is not None and low >= 0:
        return extreme("min", (bound, length))
    _, high = bounds(expression_of(bound))
    if high is not None and high < 0:
        return extreme("max", (bound + length, 0))
    return select(bound < 0, extreme("max", (bound + length, 0)), extreme("min", (bound, length)))


def cut_of_lengths(item: Any, length: Length) -> tuple[Any, ...]:
    """As `cut_of` where a bound, the step or the length of the axis is a Length."""
    step = 1 if item.step is None else item.step
    if not is_length(step):
        if step > 0:
            return _forward_cut(item, length, step)
        return _backward_cut(item, length, step)
    low, high = bounds(expression_of(step))
    if low is not None and low > 0:
        return _forward_cut(item, length, step)
    if high is not None and high < 0:
        return _backward_cut(item, length, step)
    # The sign is unknown: both cuts are made, and one is chosen.
    answer = step > 0
    # At least 1, as a division by 0 would not be chosen.
    pace = extreme("max", (abs(step), 1))
    one, start = _forward_cut(item, length, pace)
    other, least = _backward_cut(item, length, -pace)
    counts = [length if cut is ALL else cut[1] for cut in (one, other)]
    return ("s", select(answer, *counts), step), select(answer, start, least)


def _forward_cut(
    item: Any, length: Length, step: int
) -> tuple[tuple[str], int] | tuple[tuple[str, Any, Any | int], Any | int]:
    if item.start is None:
        start = 0
    else:
        start = _end_of(item.start, length)
    if item.stop is None:
        stop = length
    else:
        stop = _end_of(item.stop, length)
    # An end before the start picks nothing.
    room = extreme("max", (stop - start, 0))
    count = (room + (step - 1)) // step
    # The whole axis, whatever its length.
    is_all = (
        not is_length(step)
        and step == 1
        and expression_of(start) == 0
        and expression_of(count) == expression_of(length)
    )
    if is_all:
        return (ALL, 0)
    return (("s", count, step), start)


def _backward_cut(item: Any, length: Any, step: Any) -> tuple[tuple[str, Any, Any], Any]:
    """A slice that goes backwards, and the least position that it picks; of an empty one the pace."""
    pace = -step
    if item.start is None and item.stop is None:
        # Rounded up: the last step may be short.
        count = (length + (pace - 1)) // pace
        return ("s", count, step), length - 1 - (count - 1) * pace
    if item.start is None:
        first = length - 1
    else:
        first = _last_of(item.start, length)
    if item.stop is None:
        before = -1
    else:
        before = _last_of(item.stop, length)
    # Rounded up; an end before the start picks nothing.
    count = extreme("max", (first - before + (pace - 1), 0)) // pace
    return ("s", count, step), select(count > 0, first - (count - 1) * pace, pace)


def _last_of(bound: Any, length: Any) -> Any:
    """A bound of a slice that goes backwards, counted from the front; -1 before the first element."""
    return select(bound < 0, extreme("max", (bound + length, -1)), extreme("min", (bound, length - 1)))


def _open_cut(
    item: Any, length: Any
) -> tuple[tuple[str, Any, int], int] | tuple[tuple[str], int] | tuple[tuple[str, Any, Any | int], Any | int]:
    """As `cut` where JAX traces for every length."""
    step = 1 if item.step is None else item.step
    # Turning an axis round works for any length.
    if step == -1 and item.start is None and item.stop is None:
        return (("s", length, -1), 0)
    if not are_known(step) or step < 1:
        raise ValueError(
            "Tensor index: a slice backwards, of a length that is not fixed; "
            "reverse the axis with flip, or give the length as a number"
        )
    start = 0 if item.start is None else _open_end(item.start, length)
    stop = length if item.stop is None else _open_end(item.stop, length)
    if step == 1 and are_known(start) and start == 0 and stop is length:
        return (ALL, 0)
    room = stop - start
    # An empty cut where the end lies before the start.
    if not _is_least(room, 0):
        room = jax.core.max_dim(room, 0)
    return (("s", (room + (step - 1)) // step, step), start)


def _add_open_int(found: Parsed, item: Any, length: Any) -> int:
    """As `add_int` for a number made of lengths, where JAX traces for every length."""
    place = item if _is_least(item, 0) else item + length
    if not (_is_least(place, 0) and _is_least(length - place, 1)):
        raise ValueError(
            f"Tensor index: got {item} for an axis of length {length}, which is not fixed; it has to be "
            "within the axis for all lengths; use gather, or give the length as a number"
        )
    found.starts.append(place)
    found.axes.append(("i",))
    return 1


def _is_least(number: Any, least: int) -> bool:
    """Whether a symbolic number is at least another one for all lengths."""
    try:
        return bool(number >= least)
    # JAX cannot decide it for all lengths.
    except jax.errors.InconclusiveDimensionOperation:
        return False


def _open_end(bound: Any, length: Any) -> Any:
    """A bound of a slice, counted from the front and within the axis, where JAX traces for every length."""
    if _is_least(bound, 0):
        return bound if _is_least(length - bound, 0) else jax.core.min_dim(bound, length)
    if not _is_least(-bound, 1):
        raise ValueError(
            f"Tensor index: a bound {bound} in a slice, of a length that is not fixed; it has to be above "
            "zero, or below, for all lengths; or give the length as a number"
        )
    found = bound + length
    return found if _is_least(found, 0) else jax.core.max_dim(found, 0)


def _add_slice(found: Parsed, item: Any, length: Any) -> int:
    parts = [_bound(b) for b in (item.start, item.stop, item.step)]
    if parts[2] == 0:
        raise ValueError("Tensor index: got a slice with step 0; the step must not be 0")
    cut, start = cut_of(slice(*parts), length)
    found.out += 1
    found.axes.append(cut)
    # The whole axis needs no start.
    if cut is not ALL:
        found.starts.append(start)
    return 1


def _add_array(found: Parsed, item: Tensor | np.ndarray, axis: int, length: int) -> int:
    value = value_of(item)
    if value.size == 0:
        value = np.zeros(value.shape, np.int64)
    # uint8 would be a mask in older programs.
    if value.dtype.kind not in "iu" or value.dtype == np.uint8:
        raise ValueError(f"Tensor index: got an index of dtype {value.dtype}; {ALLOWED}")
    if _traced(item):
        _checked_later(item, axis, length)
    elif value.size:
        low = int(np.asarray(value).min())
        high = int(np.asarray(value).max())
        # The first and last place decide for all.
        if low < -length or high >= length:
            raise _outside(low, high, axis, length)
    found.axes.append((":",))
    found.slots.append(found.out)
    found.arrays.append(value)
    found.out += 1
    return 1


def _add_mask(found: Parsed, item: Any, axis: int, shape: Sequence[Any]) -> int:
    frame = local.ctx.frame
    if frame.symbolic and isinstance(item, Tensor) and item.ndim and frame.has_variables(item):
        return _add_recorded_mask(found, item, axis, shape)
    if isinstance(item, Tensor):
        mask = host_value(item, "a bool mask as an index", INSTEAD)
    # A mask of Tensors decides shapes, so the host has to look.
    else:
        mask = np.asarray(item)
    if mask.ndim == 0:  # True adds an axis of length 1, False one of length 0
        found.axes.append(("n",))
        found.slots.append(found.out)
        found.arrays.append(np.zeros(int(mask), np.int64))
        found.out += 1
        return 0
    if mask.shape != tuple(shape[axis : axis + mask.ndim]):
        raise IndexError(
            f"Tensor index: the mask has shape {list(mask.shape)}; "
            f"the axes it applies to have {list(shape[axis : axis + mask.ndim])}"
        )
    # Each axis of the mask becomes an index array.
    for where in mask.nonzero():
        found.axes.append((":",))
        found.slots.append(found.out)
        found.arrays.append(where)
        found.out += 1
    return mask.ndim


def _add_recorded_mask(found: Any, mask: Any, axis: Any, shape: Any) -> Any:
    """Takes in a mask whose values are known when the program runs: the positions of what it picks."""
    pairs = zip(mask.shape, shape[axis : axis + mask.ndim], strict=True)
    if any(are_known(one, other) and not has_lengths((one, other)) and one != other for one, other in pairs):
        raise IndexError(
            f"Tensor index: the mask has shape {list(mask.shape)}; "
            f"the axes it applies to have {list(shape[axis : axis + mask.ndim])}"
        )
    for where in nonzero(mask, as_tuple=True):
        found.axes.append((":",))
        found.slots.append(found.out)
        found.arrays.append(value_of(where))
        # The number of elements is known when the program runs.
        found.out += 1
    return mask.ndim


class Joining:
    """The operation that joins starts which are Tensors; `tensor.joining`, which is above, fills it in."""

    stack: Callable[..., Tensor]


def starts_of(found: Parsed) -> Tensor:
    """Where integers and slices of an index start, as one int32 operand, int64 for long axes."""
    dtype = found.dtype
    if has_lengths(found.starts):
        return local.ctx.frame.tensor_of(list(found.starts), dtype)
    if any(isinstance(s, Tensor) for s in found.starts):  # in a program that is being recorded
        return Joining.stack(
            [
                s.astype(dtype.name) if isinstance(s, Tensor) else wrap(jnp.asarray(s, dtype))
                for s in found.starts
            ]
        )
    # Numbers that a trace computes.
    if any(isinstance(s, jax.Array) or is_symbolic(s) for s in found.starts):
        return wrap(jnp.stack([jnp.asarray(s, dtype) for s in found.starts]))
    return host_starts(tuple(found.starts))


# kernels ----------------------------------------------------------------------------------------------------


@ft.lru_cache(maxsize=8192)
def host_starts(starts: Any) -> Tensor:
    """Starts as an operand: host numbers, which the deferred tier hands to the device together with
    those of other ops."""
    return wrap(
        # int32 is what accelerators compare fast; long axes need more.
        host_numbers(starts, aval_of((len(starts),), INT64 if max(starts, default=0) > LONGEST else INT32))
    )
