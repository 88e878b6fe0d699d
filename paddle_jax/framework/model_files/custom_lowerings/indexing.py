"""Indexing, cutting and writing into tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.lazy.lengths import extreme, is_length, select
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder import Value
from paddle_jax.framework.model_files.builder_helpers import (
    cast,
    known_ints,
    reshape,
    same_length,
    same_shape,
    unsqueeze,
)
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering
from paddle_jax.tensor.indexing import put_index as put_index_op
from paddle_jax.tensor.indexing import take_index as take_index_op
from paddle_jax.tensor.slicing import every

if TYPE_CHECKING:
    from paddle_jax._core.lazy.lengths import Length
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.framework.model_files.builder import Builder
    from paddle_jax.onnx.graph import Graph


END = 2**31 - 1  # a slice to the end


def _slice(
    w: Builder,
    x: Value,
    axes: Sequence[int],
    starts: Sequence[Any],
    ends: Sequence[Any],
    shape: Sequence[Length | int],
    decrease: Sequence[int] = (),
) -> Any:
    """x[start:end] along axes; `decrease` names those that are dropped."""
    flags = [
        # 1 says that both bounds are known, -1 that they are computed.
        1 if _is_plain(start) and _is_plain(end) else -1
        for start, end in zip(starts, ends, strict=True)
    ]
    return w.op(
        "slice",
        [x, *map(w.vector, (starts, ends))],
        (x.dtype, shape),
        axes=axes,
        infer_flags=flags,
        decrease_axis=decrease,
    )


def _is_plain(number: Any) -> bool:
    return isinstance(number, int) and not is_length(number)


def _take_index(
    w: Builder,
    a: Any,
    out: Sequence[Any],
    x: Value,
    starts: Value | Sequence[Length | int] | None,
    arrays: Sequence[Value],
) -> Any:
    done = _window(w, x, a.axes, starts)
    for axis, kind in enumerate(k for k in a.axes if k[0] != "i"):
        # New axes come last, as the cuts count the axes of x.
        if kind[0] == "n":
            done = unsqueeze(w, done, axis)
    if not arrays:
        return done
    if len(arrays) == 1:
        if arrays[0].ndim != 1:
            return _gather_many(w, out, done, arrays[0], a.slots[0])
        return w.op("gather", [done, arrays[0], w.full(a.slots[0], "int32")], out[0])
    # `gather_nd` indexes the first axes.
    if list(a.slots) != list(range(len(a.slots))):
        raise NotWritable("index arrays on axes that are not the first ones have no form in PIR")
    index = [w.op("expand", [one, w.ints(_joint(arrays))], (one.dtype, _joint(arrays))) for one in arrays]
    stacked = w.op(
        "stack", [w.combine(index)], (index[0].dtype, [*_joint(arrays), len(index)]), axis=len(_joint(arrays))
    )
    return w.op("gather_nd", [done, stacked], out[0])


def _joint(arrays: Any) -> Any:
    if not all(same_shape(one.shape, arrays[0].shape) for one in arrays):
        raise NotWritable("index arrays of several shapes have no form in PIR")
    return arrays[0].shape


def _take_rows(w: Builder, a: Any, out: Sequence[Any], x: Value, index: Value) -> Any:
    if index.ndim == 1:
        return w.op("gather", [x, index, w.full(a.axis, "int32")], out[0])
    return _gather_many(w, out, x, index, a.axis)


def _gather_many(w: Any, out: Any, x: Any, index: Any, axis: Any) -> Any:
    flat = w.op("reshape", [index, w.ints([-1])], (index.dtype, [_count(index.shape)]))
    rows = w.op(
        "gather",
        [x, flat, w.full(axis, "int32")],
        (x.dtype, [*x.shape[:axis], *flat.shape, *x.shape[axis + 1 :]]),
    )
    return reshape(w, rows, out[0][1])


def _count(shape: Any) -> int:
    return math.prod(shape)


def _window(
    w: Builder, x: Value, pattern: Sequence[Any], starts: Value | Sequence[Length | int] | None
) -> Value:
    """The part of x that integers and slices pick, without new axes."""
    if starts is None:
        return x
    starts = _items(w, starts)
    cuts = []
    steps = []
    axis = 0
    for kind in pattern:
        if kind[0] == "n":
            continue
        if kind[0] != ":":
            start = starts.pop(0)
            step = kind[2] if kind[0] == "s" else 1
            if is_length(step) or step != 1:
                steps.append((axis, step, start, kind[1]))
            else:
                cuts.append((axis, start, 1 if kind[0] == "i" else kind[1], kind[0] == "i"))
        axis += 1
    if steps:
        x = _strided(w, x, steps)
    if not cuts:
        return x
    shape = list(x.shape)
    for axis, _, size, _ in cuts:
        shape[axis] = size
    dropped = [axis for axis, *_, drop in cuts if drop]
    ends = [_end(start, size, x.shape[axis]) for axis, start, size, _ in cuts]
    starts = [start for _, start, *_ in cuts]
    return _slice(
        w,
        x,
        [c[0] for c in cuts],
        starts,
        ends,
        [n for i, n in enumerate(shape) if i not in dropped],
        dropped,
    )


def _items(w: Builder, starts: Value | Sequence[Length | int]) -> list[Any]:
    """Starts one by one: numbers, or Values where they are computed."""
    if not isinstance(starts, Value):
        return list(starts)
    return [_slice(w, cast(w, starts, "int64"), [0], [i], [i + 1], [], [0]) for i in range(starts.shape[0])]


def _end(start: Any, size: Length | int, length: Length | int) -> Any:
    if isinstance(start, Value):
        return start, size
    end = start + size
    # To the end, whatever the length is.
    if same_length(end, length):
        return END
    return end


def _strided(w: Builder, x: Value, steps: Sequence[Any]) -> Any:
    shape = list(x.shape)
    starts = []
    ends = []
    for axis, step, start, count in steps:
        first, end = _range_of(start, count, step, x.shape[axis])
        starts.append(first)
        ends.append(end)
        shape[axis] = count
    operands = [x, *map(w.vector, (starts, ends, [s[1] for s in steps]))]
    return w.op("strided_slice", operands, (x.dtype, shape), axes=[s[0] for s in steps])


def _pasted(w: Any, a: Any, out: Any, x: Any, value: Any, starts: Any) -> Any:
    """x with a block of steps of a value."""
    starts = _items(w, starts)
    axes = []
    begin = []
    end = []
    steps = []
    for axis, (start, size, step, length) in enumerate(zip(starts, a.sizes, a.steps, x.shape, strict=True)):
        if step == 1 and same_length(size, length):
            continue
        last = start + (size - 1) * step
        if step < 0 and is_length(last):
            raise NotWritable("slice_scatter backwards to an unknown place has no form in PIR")
        axes.append(axis)
        begin.append(start)
        if step > 0:
            end.append(last + 1)
        elif last:
            end.append(last - 1)
        # Backwards to the first element the end is before it: below -length, as -1 would be the last
        # element.
        else:
            end.append(-length - 1)
        steps.append(step)
    return _set(w, out, x, value, axes, begin, end, steps)


def _set(
    w: Builder,
    out: Sequence[Any],
    x: Value,
    value: Value,
    axes: Sequence[int],
    begin: Sequence[Length],
    end: Sequence[Length],
    steps: Sequence[int],
    dropped: Sequence[int] = (),
) -> Any:
    # `set_value_with_tensor_` changes its operand.
    copy = w.op("assign", [x], x.type)
    return w.op(
        "set_value_with_tensor_",
        [copy, cast(w, value, x.dtype), *map(w.vector, (begin, end, steps))],
        out[0],
        axes=axes,
        decrease_axes=list(dropped),
        none_axes=[],
    )


def _range_of(start: int, count: int, step: int, length: int) -> tuple[Any, ...]:
    """The bounds of a slice that picks `count` elements, of which `start` is the least position."""
    if isinstance(start, Value):
        raise NotWritable("a slice with a step and a computed start has no form in PIR")
    last = start + (count - 1) * abs(step)
    # A negative step goes from the last position to the first.
    forward = start, _at_least_zero(last + 1)
    backward = _at_least_zero(last), start - 1 - length  # negative bounds count from the end
    answer = step > 0
    return tuple([select(answer, one, other) for one, other in zip(forward, backward, strict=True)])


def _at_least_zero(number: int) -> int:
    if is_length(number):
        return extreme("max", (number, 0))
    return max(number, 0)


def _cut(w: Builder, a: Any, out: Sequence[Any], x: Value, starts: Sequence[int]) -> Value:
    starts = known_ints(starts)
    return _slice(
        w,
        x,
        list(range(x.ndim)),
        starts,
        [_end(s, size, n) for s, size, n in zip(starts, a.sizes, x.shape, strict=True)],
        list(a.sizes),
    )


def _every_backwards(a: Any, x: Tensor) -> Any:
    """Forwards, and then turned around."""
    backwards = [axis for axis, step in enumerate(a.steps) if step < 0]
    if not backwards:
        return None
    return P.flip(every(x, tuple(map(abs, a.steps))), backwards)


def _every(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Value:
    steps = [(i, s, 0, n) for i, (s, n) in enumerate(zip(a.steps, out[0][1], strict=True)) if s > 1]
    if steps:
        return _strided(w, x, steps)
    return x


def _read_slice(a: Any, x: Tensor, n_starts: Sequence[int], n_ends: Sequence[int]) -> Tensor:
    found = P.slice(x, a.axes, n_starts, n_ends)
    if not a.decrease_axis:
        return found
    return P.reshape(found, [n for axis, n in enumerate(found.shape) if axis not in a.decrease_axis])


def _read_strided(a: Any, x: Any, n_starts: Any, n_ends: Any, n_strides: Any) -> Any:
    return P.strided_slice(x, a.axes, n_starts, n_ends, n_strides)


def _onnx_slice(g: Graph, op: Any, x: str, starts: str, ends: str, steps: str | None = None) -> str:
    inputs = [x, g.int_list(starts), g.int_list(ends), g.ints(op.axes)]
    if steps is not None:
        inputs.append(g.int_list(steps))
    y = g.node("Slice", inputs)
    dropped = list(getattr(op, "decrease_axis", ()))
    if dropped:
        return g.node("Squeeze", [y, g.ints(dropped)])
    return y


# arrays as indices, decomposed ------------------------------------------------------------------------------


def _placed(slots: Any, rest: Any, count: Any) -> list[int]:
    """Where the axes of a result lie that has those of the index arrays first: they take the place of the
    indexed ones where these are side by side.

    Args:
        slots: axes that are indexed.
        rest: how many others there are.
        count: how many axes an array has.
    """
    # NumPy's rule: indexed axes side by side stay in their place, else those of the arrays come first.
    side_by_side = list(slots) == list(range(slots[0], slots[0] + len(slots)))
    before = slots[0] if side_by_side else 0
    return [*range(count, count + before), *range(count), *range(count + before, count + rest)]


def _taken_by_arrays(a: Any, x: Tensor, starts: Tensor, arrays: Sequence[Any]) -> Any:
    """On other axes than the first ones, or arrays of several shapes."""
    if not arrays or len(arrays) == 1:
        return None
    if list(a.slots) == list(range(len(a.slots))) and all(
        same_shape(one.shape, arrays[0].shape) for one in arrays
    ):
        return None
    x = take_index_op(x, starts, (), a.axes, ())
    rest = [axis for axis in range(x.ndim) if axis not in a.slots]
    index = P.stack(P.broadcast_tensors(list(arrays)), -1)
    found = P.gather_nd(P.transpose(x, [*a.slots, *rest]), index)
    perm = _placed(a.slots, len(rest), index.ndim - 1)
    if perm == sorted(perm):
        return found
    return P.transpose(found, perm)


def _written_by_parts(a: Any, x: Tensor, value: Tensor, starts: Tensor, arrays: Sequence[Any]) -> Any:
    """Through index arrays and new axes, and backwards."""
    kinds = [kind for kind in a.axes if kind[0] != "n"]
    backwards = [kind for kind in kinds if kind[0] == "s" and kind[2] < 0]
    if not arrays and not backwards and len(kinds) == len(a.axes):
        return None
    value = P.cast(value, x.dtype)
    window = take_index_op(x, starts, (), a.axes, ())
    if arrays:
        block = _put_by_arrays(window, value, list(arrays), a.slots)
        if starts is None and len(kinds) == len(a.axes):
            return block
    else:
        block = P.expand(value, list(window.shape))
    full = [kind for kind in kinds if kind[0] != "i"]  # the axes that are left
    block = P.reshape(
        block,
        [
            n
            for n, kind in zip(window.shape, [k for k in a.axes if k[0] != "i"], strict=True)
            if kind[0] != "n"
        ],
    )
    turned = [axis for axis, kind in enumerate(full) if kind in backwards]
    if turned:
        block = P.flip(block, turned)
    forwards = tuple([("s", kind[1], -kind[2]) if kind in backwards else kind for kind in kinds])
    return put_index_op(x, block, starts, (), forwards, ())


def _put_by_arrays(x: Any, value: Any, arrays: Any, slots: Any) -> Any:
    if len(arrays) > 1:
        arrays = list(P.broadcast_tensors(arrays))
    rest = [axis for axis in range(x.ndim) if axis not in slots]
    perm = [*slots, *rest]
    places = _placed(slots, len(rest), arrays[0].ndim)
    if places != sorted(places):
        shape = [*arrays[0].shape, *[x.shape[axis] for axis in rest]]
        value = P.expand(value, [shape[k] for k in places])
        value = P.transpose(value, [places.index(k) for k in range(len(places))])
    if perm == sorted(perm):
        return P.index_put(x, tuple(arrays), value)
    found = P.index_put(P.transpose(x, perm), tuple(arrays), value)
    return P.transpose(found, [perm.index(axis) for axis in range(x.ndim)])


# writing ----------------------------------------------------------------------------------------------------


def _put_elements(w: Builder, a: Any, out: Sequence[Any], x: Value, index: Value, values: Any) -> Any:
    # Paddle's names of the reductions.
    how = {"set": "assign", "max": "amax", "min": "amin"}.get(a.how, a.how)
    if not same_shape(values.shape, index.shape):
        values = w.op("expand", [values, w.ints(index.shape)], (values.dtype, index.shape))
    return w.op(
        "put_along_axis", [x, index, values], out[0], axis=a.axis, reduce=how, include_self=a.include_self
    )


def _put_index(
    w: Builder,
    a: Any,
    out: Sequence[Any],
    x: Value,
    value: Value,
    starts: Sequence[Length],
    arrays: Sequence[Any],
) -> Value:
    """Writing through integers and slices."""
    if arrays or any(k[0] == "n" for k in a.axes):
        raise NotWritable("writing through index arrays or new axes has no form in PIR")
    starts = _items(w, starts) if starts is not None else []
    axes = []
    begin = []
    end = []
    step = []
    dropped = []
    axis = 0
    for kind in a.axes:
        if kind[0] != ":":
            start = starts.pop(0)
            # An integer is a slice of length 1 whose axis is dropped.
            size, pace = (1, 1) if kind[0] == "i" else kind[1:]
            if not is_length(pace) and pace == 1:
                first = start
                last = _end(start, size, x.shape[axis])
            else:
                first, last = _range_of(start, size, pace, x.shape[axis])
            axes.append(axis)
            begin.append(first)
            end.append(last)
            step.append(pace)
            dropped += [axis] if kind[0] == "i" else []
        axis += 1
    return _set(w, [x.type], x, value, axes, begin, end, step, dropped)


def _read_put_index(a: Any, x: Any, value: Any, n_starts: Any, n_ends: Any, n_steps: Any) -> Any:
    index = [slice(None)] * x.ndim
    for axis, start, end, step in zip(a.axes, n_starts, n_ends, n_steps, strict=True):
        index[axis] = start if axis in a.decrease_axes else slice(start, end, step)
    for axis in a.none_axes:
        index.insert(axis, None)
    done = P.assign(x)
    done[tuple(index)] = value
    return done


def _put_mask(w: Any, a: Any, out: Any, x: Any, mask: Any, value: Any) -> Any:
    if mask.ndim < x.ndim:
        for _ in range(x.ndim - mask.ndim):
            mask = unsqueeze(w, mask, mask.ndim)
        mask = w.op("expand", [mask, w.ints(x.shape)], ("bool", x.shape))
    return w.op(
        "where", [mask, w.op("expand", [cast(w, value, x.dtype), w.ints(x.shape)], x.type), x], out[0]
    )


def _fill_masked(w: Builder, a: Any, out: Sequence[Any], x: Value, mask: Value, value: Value) -> Any:
    return w.op("masked_fill", [x, cast(w, mask, "bool"), cast(w, value, x.dtype)], out[0])


def _choose(w: Builder, a: Any, out: Sequence[Any], test: Value, x: Value, y: Value) -> Any:
    return w.op("where", [_broadcast(w, one, out[0][1]) for one in (test, x, y)], out[0])


def _broadcast(w: Builder, x: Value, shape: Sequence[Length | int]) -> Any:
    if same_shape(x.shape, shape):
        return x
    return w.op("expand", [x, w.ints(shape)], (x.dtype, shape))


def _onnx_one_hot(g: Any, op: Any, x: Any, n: Any) -> Any:
    # ONNX takes the depth as a tensor of one element.
    count = g.node("Reshape", [g.cast(n, "int64"), g.ints([1])])
    return g.node("OneHot", [x, count, g.constant(np.array([0, 1], np.float32))])


take_index: Lowering = Lowering(_take_index, decompose=_taken_by_arrays)
take_rows: Lowering = Lowering(_take_rows)
cut: Lowering = Lowering(_cut)
steps: Lowering = Lowering(_every, decompose=_every_backwards)
slice_form: Lowering = Lowering(read=_read_slice, onnx=_onnx_slice)
strided_slice: Lowering = Lowering(read=_read_strided, onnx=_onnx_slice)
put_index: Lowering = Lowering(_put_index, _read_put_index, decompose=_written_by_parts)
put_mask: Lowering = Lowering(_put_mask)
paste: Lowering = Lowering(_pasted)
fill_masked: Lowering = Lowering(_fill_masked)
put_elements: Lowering = Lowering(_put_elements)
choose: Lowering = Lowering(_choose)
one_hot: Lowering = Lowering(onnx=_onnx_one_hot)
