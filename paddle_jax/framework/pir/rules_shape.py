"""Rules for creation, shapes, joining, indexing, sorting, and lists of tensors."""

import numpy as np

from paddle_jax.framework.pir.rules import RULES, P, define, numbers, tensor


def _shape(a, x):
    if any(n < 0 for n in x.shape):  # while a program is recorded
        return P.shape(x)
    return np.array(x.shape, np.int64)


def _slice(a, x, n_starts, n_ends):
    found = P.slice(x, a.axes, n_starts, n_ends)
    if not a.decrease_axis:
        return found
    return P.reshape(found, [n for axis, n in enumerate(found.shape) if axis not in a.decrease_axis])


def _strided_slice(a, x, n_starts, n_ends, n_strides):
    return P.strided_slice(x, a.axes, n_starts, n_ends, n_strides)


def _set_value(a, x, value, starts, ends, steps):
    index = [slice(None)] * x.ndim
    for axis, start, end, step in zip(a.axes, starts, ends, steps, strict=True):
        index[axis] = start if axis in a.decrease_axes else slice(start, end, step)
    for axis in a.none_axes:
        index.insert(axis, None)
    done = P.assign(x)
    done[tuple(index)] = value
    return done


def _set_numbers(a, x, n_starts, n_ends, n_steps):
    value = P.to_tensor(np.array(a.values), dtype=x.dtype).reshape(a.shape)
    return _set_value(a, x, value, n_starts, n_ends, n_steps)


def _full_batch_size_like(a, x):
    shape = list(a.shape)
    shape[a.output_dim_idx] = x.shape[a.input_dim_idx]
    return P.full(shape, a.value, a.dtype)


def _unsqueeze(a, x, n_axes):
    return P.unsqueeze(x, n_axes)


def _split(a, x, n_sections, s_axis):
    return list(P.split(x, n_sections, s_axis))


def _gather(a, x, index, s_axis):
    return P.gather(x, index, s_axis)


def _take_list(values, at):
    if not 0 <= at < len(values):
        raise IndexError(f"array_read: index {at} of a list of {len(values)} tensors")
    return values[at]


def _write_list(values, at, item):
    done = list(values)
    done += [item] * (at + 1 - len(done))
    done[at] = item
    return done


def _to_tensor(a, values):
    joined = P.stack(values, a.axis) if a.use_stack else P.concat(values, a.axis)
    return joined, np.array([1 if a.use_stack else v.shape[a.axis] for v in values], np.int32)


def _unique(a, x):
    found = P.unique(x, True, True, True, _one_axis(a.axis), a.dtype)
    return found


def _fill_diagonal(a, x, y):
    shape = list(P.diagonal(x, a.offset, a.dim1, a.dim2).shape)
    return P.fill_diagonal_tensor(x, P.reshape(y, shape), a.offset, a.dim1, a.dim2)


def _one_axis(axis):
    return axis[0] if isinstance(axis, list) and axis else None if isinstance(axis, list) else axis


def _expand(a, x, n_shape):
    return P.expand(x, n_shape)


define({
    "full": lambda a: P.full(a.shape, a.value, a.dtype),
    "full_": lambda a, x: P.full(a.shape, a.value, a.dtype),
    "full_like": lambda a, x, s_value: P.full_like(x, s_value, _dtype(a.dtype)),
    "full_with_tensor": lambda a, value, n_shape: P.expand(P.cast(P.reshape(value, [1]), a.dtype), n_shape) if n_shape else P.reshape(value, []),
    "full_batch_size_like": _full_batch_size_like,
    "assign_value_": lambda a, x: P.to_tensor(np.array(a.values).reshape(a.shape), a.dtype),
    "assign share_data_ memcpy_h2d memcpy_d2h": lambda a, x: P.assign(x),
    "assign_out_": lambda a, x, out: P.assign(x),
    "empty": lambda a, n_shape: P.zeros(n_shape, a.dtype),
    "eye": lambda a, s_rows, s_columns: P.eye(int(s_rows), int(s_columns), a.dtype),
    "arange": lambda a, s_start, s_end, s_step: P.arange(s_start, s_end, s_step, a.dtype),
    "linspace": lambda a, s_start, s_stop, s_num: P.linspace(s_start, s_stop, s_num, a.dtype),
    "logspace": lambda a, s_start, s_stop, s_num, s_base: P.logspace(s_start, s_stop, s_num, s_base, a.dtype),
    "tril_indices": lambda a: P.tril_indices(a.rows, a.cols, a.offset, a.dtype),
    "triu_indices": lambda a: P.triu_indices(a.row, a.col, a.offset, a.dtype),
    "meshgrid": lambda a, xs: list(P.meshgrid(xs)),
    "one_hot": lambda a, x, s_classes: P.one_hot(x, s_classes),
    # shapes
    "reshape view_shape": lambda a, x, n_shape: P.reshape(x, n_shape),
    "view_slice": lambda a, x: P.slice(x, [0], [a.begin_idx], [a.end_idx]),
    "transpose": lambda a, x: P.transpose(x, a.perm),
    "trans_layout": lambda a, x: P.transpose(x, a.perm),
    "squeeze": lambda a, x, n_axes: P.squeeze(x, n_axes if n_axes != [] else None),
    "unsqueeze": _unsqueeze,
    "expand": _expand,
    "expand_as": lambda a, x, y: P.expand(x, a.target_shape if y is None else list(y.shape)),
    "broadcast_tensors": lambda a, xs: list(P.broadcast_tensors(xs)),
    "tile": lambda a, x, n_times: P.tile(x, n_times),
    "roll": lambda a, x, n_shifts: P.roll(x, n_shifts, a.axis or None),
    "as_strided": lambda a, x: P.as_strided(x, a.dims, a.stride, a.offset),  # Paddle does not run it when it stands in a file
    "rot90": lambda a, x: P.rot90(x, a.k, a.axes),
    "repeat_interleave": lambda a, x: P.repeat_interleave(x, a.repeats, a.axis),
    "repeat_interleave_with_tensor_index": lambda a, x, repeats: P.repeat_interleave(x, repeats, a.axis),
    "crop": lambda a, x, n_shape, n_offsets: P.crop(x, n_shape, n_offsets),
    "pad": lambda a, x, s_value: P.pad(x, a.paddings, "constant", s_value),
    # joining and splitting
    "concat": lambda a, xs, s_axis: P.concat(xs, s_axis),
    "split": _split,
    "split_with_num": lambda a, x, s_axis: list(P.split(x, a.num, s_axis)),
    # indexing
    "slice": _slice,
    "strided_slice": _strided_slice,
    "gather": _gather,
    "set_value_": _set_numbers,
    "set_value": _set_numbers,
    "set_value_with_tensor_ set_value_with_tensor": lambda a, x, value, n_starts, n_ends, n_steps: _set_value(a, x, value, n_starts, n_ends, n_steps),
    "index_add": lambda a, x, index, value: P.index_add(x, index, a.axis, value),
    "nonzero": lambda a, x: P.nonzero(x),
    "fill": lambda a, x, s_value: P.full_like(x, s_value),
    "fill_diagonal_tensor": lambda a, x, y: _fill_diagonal(a, x, y),
    "sequence_mask": lambda a, x, s_length: P.sequence_mask(x, s_length if s_length is not None and s_length >= 0 else None, a.out_dtype),
    # sorting
    "topk": lambda a, x, s_k: P.topk(x, s_k, a.axis, a.largest, a.sorted),
    "argsort": lambda a, x: _sorted(a, x),
    "unique": _unique,
    "unique_consecutive": lambda a, x: P.unique_consecutive(x, True, True, _one_axis(a.axis), a.dtype),
})


def _sorted(a, x):
    order = P.argsort(x, a.axis, a.descending, a.stable)
    return (P.take_along_axis(x, order, a.axis) if x.ndim else x), order


def _dtype(name):
    return None if name.startswith("Undefined") else name


# lists of tensors; their items may be numbers on the host
RULES |= {
    "builtin.combine": lambda a, *xs: list(xs),
    "builtin.split": lambda a, xs: xs,
    "create_array": lambda a: [],
    "create_array_like": lambda a, x: [P.full_like(tensor(one), a.val) for one in x],
    "array_length": lambda a, xs: np.array([len(xs)], np.int64),
    "array_read": lambda a, xs, at: _take_list(xs, int(numbers(at)[0] if isinstance(numbers(at), list) else numbers(at))),
    "array_write_": lambda a, xs, item, at: _write_list(xs, int(np.asarray(at).ravel()[0]), item),
    "array_to_tensor": lambda a, xs: _to_tensor(a, tensor(xs)),
    "shape64": _shape,
}
