"""Shapes, joining, indexing, sorting and random numbers in PIR."""

from paddle_jax.framework.pir.builder import Length, NotWritable, Value
from paddle_jax.framework.pir.lower import cast, define, known_ints, positive, reshape, transpose, unsqueeze

END = 2**31 - 1  # a slice to the end


def _slice(w, x, axes, starts, ends, shape, decrease=()):
    """x[start:end] along axes; `decrease` names those that are dropped."""
    flags = [1 if isinstance(start, int) and isinstance(end, int) else -1 for start, end in zip(starts, ends, strict=True)]
    return w.op("slice", [x, *map(w.vector, (starts, ends))], (x.dtype, shape), axes=axes, infer_flags=flags, decrease_axis=decrease)


def _take_index(w, a, out, x, starts, arrays):
    done = _window(w, x, a.axes, starts)
    for axis, kind in enumerate(k for k in a.axes if k[0] != "i"):
        if kind[0] == "n":
            done = unsqueeze(w, done, axis)
    if not arrays:
        return done
    if len(arrays) == 1:
        return w.op("gather", [done, arrays[0], w.full(a.slots[0], "int32")], out[0]) if arrays[0].ndim == 1 else \
            _gather_many(w, out, done, arrays[0], a.slots[0])
    if list(a.slots) != list(range(len(a.slots))):
        raise NotWritable("index arrays on axes that are not the first ones have no form in PIR")
    index = [w.op("expand", [one, w.ints(_joint(arrays))], (one.dtype, _joint(arrays))) for one in arrays]
    stacked = w.op("stack", [w.combine(index)], (index[0].dtype, [*_joint(arrays), len(index)]), axis=len(_joint(arrays)))
    return w.op("gather_nd", [done, stacked], out[0])


def _joint(arrays):
    if len({tuple(map(str, one.shape)) for one in arrays}) > 1:
        raise NotWritable("index arrays of several shapes have no form in PIR")
    return arrays[0].shape


def _gather_many(w, out, x, index, axis):
    flat = w.op("reshape", [index, w.ints([-1])], (index.dtype, [_count(index.shape)]))
    rows = w.op("gather", [x, flat, w.full(axis, "int32")], (x.dtype, [*x.shape[:axis], *flat.shape, *x.shape[axis + 1 :]]))
    return reshape(w, rows, out[0][1])


def _count(shape):
    if any(isinstance(n, Length) for n in shape):
        return Length(*[_product([n.pair[i] if isinstance(n, Length) else n for n in shape]) for i in (0, 1)])
    return _product(shape)


def _product(numbers):
    total = 1
    for n in numbers:
        total *= n
    return total


def _window(w, x, pattern, starts):
    """The part of x that integers and slices pick, without new axes."""
    if starts is None:
        return x
    starts = _items(w, starts)
    cuts, steps, axis = [], [], 0
    for kind in pattern:
        if kind[0] == "n":
            continue
        if kind[0] != ":":
            start = starts.pop(0)
            step = kind[2] if kind[0] == "s" else 1
            if step < 0:
                steps.append((axis, step, start, kind[1]))
            elif step > 1:
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
    starts = [_start(start, x.shape[axis]) for axis, start, *_ in cuts]
    return _slice(w, x, [c[0] for c in cuts], starts, ends, [n for i, n in enumerate(shape) if i not in dropped], dropped)


def _items(w, starts):
    """Starts one by one: numbers, or Values where they are computed."""
    if not isinstance(starts, Value):
        return list(starts)
    return [_slice(w, cast(w, starts, "int64"), [0], [i], [i + 1], [], [0]) for i in range(starts.shape[0])]


def _start(start, length):
    """A start that moves with the length counts from the end."""
    if isinstance(start, Length) and isinstance(length, Length):
        gaps = {length.pair[i] - start.pair[i] for i in (0, 1)}
        if len(gaps) == 1:
            return -gaps.pop()
    return start


def _end(start, size, length):
    if isinstance(start, Value):
        if isinstance(size, Length):
            raise NotWritable("a slice that starts where a tensor says, of a length that is not fixed, has no form in PIR")
        return start, size
    first, second = (tuple(n.pair if isinstance(n, Length) else (n, n)) for n in (start, size))
    ends = first[0] + second[0], first[1] + second[1]
    whole = length.pair if isinstance(length, Length) else (length, length)
    if ends == tuple(whole):
        return END
    if ends[0] == ends[1]:
        return ends[0]
    if whole[0] - ends[0] == whole[1] - ends[1]:
        return ends[0] - whole[0]
    return Length(*ends)


def _strided(w, x, steps):
    shape, starts, ends = list(x.shape), [], []
    for axis, step, start, count in steps:
        shape[axis] = count
        if step > 0:
            starts.append(start)
            ends.append(END)
            if not isinstance(count, Length) and not isinstance(start, Length):
                ends[-1] = start + (count - 1) * step + 1
        elif isinstance(x.shape[axis], Length):
            if start != 0 or step != -1 or count != x.shape[axis]:
                raise NotWritable("a slice that goes backwards over an axis whose length is not fixed")
            starts.append(-1)
            ends.append(-END - 1)
        else:
            last = start + (count - 1) * -step
            starts.append(last)
            ends.append(start - 1 if start else -x.shape[axis] - 1)
    operands = [x, w.ints(starts), w.ints(ends), w.ints([s[1] for s in steps])]
    return w.op("strided_slice", operands, (x.dtype, shape), axes=[s[0] for s in steps])


def _cut(w, a, out, x, starts):
    starts = known_ints(starts)
    return _slice(w, x, list(range(x.ndim)), [_start(s, n) for s, n in zip(starts, x.shape, strict=True)],
                  [_end(s, size, n) for s, size, n in zip(starts, a.sizes, x.shape, strict=True)], list(a.sizes))


def _every(w, a, out, x):
    steps = [(i, s, 0, n) for i, (s, n) in enumerate(zip(a.steps, out[0][1], strict=True)) if s > 1]
    if any(s < 1 for s in a.steps):
        raise NotWritable("strided_slice backwards has no form in PIR")
    return _strided(w, x, steps) if steps else x


def _reshape(w, a, out, x):
    return reshape(w, x, out[0][1])


def _expand(w, a, out, x):
    return w.op("expand", [x, w.ints(out[0][1])], out[0])


def _expand_as(w, a, out, x, y):
    return w.op("expand", [x, w.ints(out[0][1])], out[0])


def _squeeze(w, a, out, x):
    axes = [a.axis] if isinstance(a.axis, int) else list(a.axis or [])
    return w.op("squeeze", [x, w.ints([positive(i, x.ndim) for i in axes])], out[0])


def _unsqueeze(w, a, out, x):
    axes = [a.axis] if isinstance(a.axis, int) else list(a.axis)
    return w.op("unsqueeze", [x, w.ints(axes)], out[0])


def _flatten(w, a, out, x):
    if x.ndim == 0:
        return reshape(w, x, [1])
    return w.op("flatten", [x], out[0], start_axis=positive(a.start_axis, x.ndim), stop_axis=positive(a.stop_axis, x.ndim))


def _concat(w, a, out, xs):
    return w.op("concat", [w.combine([cast(w, x, out[0][0]) for x in xs]), w.full(a.axis, "int32")], out[0])


def _split_at(w, a, out, x):
    sizes = [kind[1][a.axis] for kind in out]
    if any(isinstance(n, Length) for n in sizes):
        raise NotWritable("split of an axis whose length is not fixed")
    return w.list_op("split", [x, w.ints(sizes), w.full(a.axis, "int32")], out)


def _roll(w, a, out, x):
    axis = [] if a.axis is None else [a.axis] if isinstance(a.axis, int) else list(a.axis)
    return w.op("roll", [x, w.ints([a.shifts] if isinstance(a.shifts, int) else a.shifts)], out[0], axis=axis)


def _put_elements(w, a, out, x, index, values):
    how = {"set": "assign", "add": "add", "mul": "mul", "multiply": "mul"}.get(a.how)
    if how is None or not a.include_self:
        raise NotWritable(f"put_along_axis with {a.how!r} has no form in PIR")
    if values.shape != index.shape:
        values = w.op("expand", [values, w.ints(index.shape)], (values.dtype, index.shape))
    return w.op("put_along_axis", [x, index, values], out[0], axis=a.axis, reduce=how)


def _change_slices(w, a, out, x, index, values):
    if a.how != "add":
        raise NotWritable(f"{a.how} along an index has no form in PIR")
    return w.op("index_add", [x, index, values], out[0], axis=a.axis)


def _top(w, a, out, x):
    return w.op("topk", [x, w.full(a.k, "int32")], out, axis=a.axis, largest=a.largest)


def _sorted(at):
    def rule(w, a, out, x):
        kinds = [(x.dtype, x.shape), ("int64", x.shape)]
        return w.op("argsort", [x], kinds, axis=positive(a.axis, x.ndim), descending=a.descending, stable=a.stable)[at]

    return rule


def _repeat(w, a, out, x):
    if not isinstance(a.repeats, int):
        raise NotWritable("repeat_interleave with a count for each element has no form in PIR")
    return w.op("repeat_interleave", [x], out[0], repeats=a.repeats, axis=a.axis)


def _put_index(w, a, out, x, value, starts, arrays):
    """Writing through integers and slices of step 1."""
    if arrays or any(k[0] == "n" for k in a.axes):
        raise NotWritable("writing through index arrays or new axes has no form in PIR")
    starts = _items(w, starts) if starts is not None else []
    axes, begin, end, step, dropped, axis = [], [], [], [], [], 0
    for kind in a.axes:
        if kind[0] != ":":
            start = starts.pop(0)
            size, pace = (1, 1) if kind[0] == "i" else kind[1:]
            if pace < 0 or (pace > 1 and isinstance(size, Length)):
                raise NotWritable("writing backwards has no form in PIR")
            axes.append(axis)
            begin.append(_start(start, x.shape[axis]))
            end.append(_end(start, size if pace == 1 else (size - 1) * pace + 1, x.shape[axis]))
            step.append(pace)
            dropped += [axis] if kind[0] == "i" else []
        axis += 1
    copy = w.op("assign", [x], x.type)
    return w.op("set_value_with_tensor_", [copy, cast(w, value, x.dtype), w.vector(begin), w.vector(end), w.ints(step)], x.type, axes=axes,
                decrease_axes=dropped, none_axes=[])


def _uniform(w, a, out, low, high):
    shape = out[0][1]
    return w.op("uniform", [w.ints(shape), cast(w, low, out[0][0]), cast(w, high, out[0][0])], out[0], shape=[], dtype=out[0][0])


define({
    "reshape view": _reshape,
    "permute_axes": lambda w, a, out, x: transpose(w, x, a.perm),
    "matrix_transpose": lambda w, a, out, x: transpose(w, x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]),
    "squeeze": _squeeze, "unsqueeze": _unsqueeze, "flatten": _flatten, "expand broadcast_to": _expand, "expand_as": _expand_as,
    "tile": lambda w, a, out, x: w.op("tile", [x, w.ints([a.repeat_times] if isinstance(a.repeat_times, int) else a.repeat_times)], out[0]),
    "roll": _roll, "repeat_each": _repeat,
    "concat": _concat, "stack": lambda w, a, out, xs: w.op("stack", [w.combine([cast(w, x, out[0][0]) for x in xs])], out[0], axis=a.axis),
    "split_at": _split_at,
    "unbind": lambda w, a, out, x: w.list_op("unbind", [x], out, axis=a.axis),
    "unstack": lambda w, a, out, x: w.list_op("unstack", [x], out, axis=a.axis, num=len(out)),
    "grid": lambda w, a, out, xs: w.list_op("meshgrid", [w.combine(xs)], out) if a.indexing == "ij" else _unwritable("meshgrid in 'xy' order"),
    "cut": _cut, "every": _every, "take_index": _take_index, "put_index": _put_index,
    "take_rows": lambda w, a, out, x, index: w.op("gather", [x, index, w.full(a.axis, "int32")], out[0]) if index.ndim == 1
    else _gather_many(w, out, x, index, a.axis),
    "take_elements": lambda w, a, out, x, index: w.op("take_along_axis", [x, index], out[0], axis=a.axis),
    "put_elements": _put_elements, "change_slices": _change_slices,
    "put_at": lambda w, a, out, x, index, value: w.op("index_put", [x, w.combine(index), value], out[0], accumulate=a.accumulate),
    "where choose": lambda w, a, out, test, x, y: w.op("where", [_broadcast(w, one, out[0][1]) for one in (test, x, y)], out[0]),
    "put_mask": lambda w, a, out, x, mask, value: w.op("where", [_mask(w, mask, x), _full_like(w, x, value), x], out[0]),
    "_top": _top, "sort": _sorted(0), "argsort": _sorted(1),
    "find_sorted": lambda w, a, out, rows, values: w.op("searchsorted", [rows, values], out[0], out_int32=out[0][0] == "int32",
                                                        right=a.side == "right"),
    "multiplex": lambda w, a, out, xs, index: w.op("multiplex", [w.combine(xs), index], out[0]),
    "_one_hot": lambda w, a, out, x: w.op("one_hot", [x, w.full(a.num_classes, "int32")], out[0]),
    "rank": lambda w, a, out, x: w.full(x.ndim, "int32", ()),
    "draw_uniform": _uniform,
})


def _broadcast(w, x, shape):
    return x if list(map(str, x.shape)) == list(map(str, shape)) else w.op("expand", [x, w.ints(shape)], (x.dtype, shape))


def _mask(w, mask, x):
    for _ in range(x.ndim - mask.ndim):
        mask = unsqueeze(w, mask, mask.ndim)
    return mask


def _full_like(w, x, value):
    return w.op("expand", [cast(w, value, x.dtype), w.ints(x.shape)], x.type)


def _unwritable(what):
    raise NotWritable(f"{what} has no form in PIR")
