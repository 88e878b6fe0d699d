"""Operations of Paddle's model files that no op of ours is written as: `rule(attributes, *operands)`
runs each by ours.

Those that the writer makes on its own (`full`, `builtin.combine`), that only Paddle writes (`accuracy`, lists
of tensors), that Paddle does not run when they stand in a file (`gcd`), and that ours compute otherwise than
Paddle's does (`median` has two results there). What an op of ours is written as is in its record, `pir=` and
`code=` of `known_as`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.framework.model_files import detection_ops, graph_ops
from paddle_jax.framework.model_files.custom_lowerings.images import read_antialias
from paddle_jax.framework.model_files.custom_lowerings.indexing import put_index
from paddle_jax.framework.model_files.reading_helpers import P, as_numbers, as_tensor, with_operand_forms
from paddle_jax.incubate import softmax_mask_fuse_upper_triangle
from paddle_jax.nn.functional.unpooling import put_back

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


RANDOM = {
    "bernoulli",
    "multinomial",
    "poisson",
    "gaussian",
    "uniform",
    "randint",
    "randperm",
    "gumbel_softmax",
    "exponential_",
    "binomial",
    "standard_gamma",
    "truncated_gaussian_random",
    "dirichlet",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "class_center_sample",
}


def _axes(given: Any) -> Any:
    """An axis operand: an empty list stands for all axes."""
    # An empty list: all axes.
    if not isinstance(given, list) or given:
        return given
    return None


def _lone(axis: Any) -> Any:
    if isinstance(axis, list) and len(axis) == 1:
        return axis[0]
    return _axes(axis)


def _set_numbers(a: Any, x: Any, n_starts: Any, n_ends: Any, n_steps: Any) -> Any:
    value = P.to_tensor(np.array(a.values), dtype=x.dtype).reshape(a.shape)
    return put_index.read(a, x, value, n_starts, n_ends, n_steps)


# The batch size is taken from another tensor.
def _full_batch_size_like(a: Any, x: Any) -> Any:
    shape = list(a.shape)
    shape[a.output_dim_idx] = x.shape[a.input_dim_idx]
    return P.full(shape, a.value, a.dtype)


def _take_list(values: Any, at: Any) -> Any:
    if not 0 <= at < len(values):
        raise IndexError(f"array_read: index {at} of a list of {len(values)} tensors")
    return values[at]


def _write_list(values: Any, at: Any, item: Any) -> Any:
    done = list(values)
    # Paddle's lists grow to the index that is written.
    done += [item] * (at + 1 - len(done))
    done[at] = item
    return done


def _pop_list(values: Any, at: int) -> tuple[Any, Any]:
    """(the other items, the item) of a list, as Python's `pop`."""
    if not -len(values) <= at < len(values):
        raise IndexError(f"array_pop: index {at} of a list of {len(values)} tensors")
    rest = list(values)
    item = rest.pop(at)
    return rest, item


def _to_tensor(a: Any, values: Any) -> Any:
    if a.use_stack:
        joined = P.stack(values, a.axis)
    else:
        joined = P.concat(values, a.axis)
    # The lengths of the items, by which the gradient is cut.
    return joined, np.array([1 if a.use_stack else v.shape[a.axis] for v in values], np.int32)


def _unique(a: Any, x: Any) -> Any:
    return P.unique(x, True, True, True, _one_axis(a.axis), a.dtype)


def _fill_diagonal(a: Any, x: Any, y: Any) -> Any:
    shape = list(P.diagonal(x, a.offset, a.dim1, a.dim2).shape)
    return P.fill_diagonal_tensor(x, P.reshape(y, shape), a.offset, a.dim1, a.dim2)


def _one_axis(axis: Any) -> Any:
    if isinstance(axis, list) and axis:
        return axis[0]
    if isinstance(axis, list):
        return None
    return axis


def _dtype(name: Any) -> Any:
    if name.startswith("Undefined"):
        return None
    return name


def _dropout(a: Any, x: Any, seed: Any, s_p: Any) -> Any:
    return P.dropout(
        x,
        s_p,
        training=not a.is_test,
        # The C++ name of the mode differs from the public one.
        mode="downscale_in_infer" if a.mode == "downgrade_in_infer" else a.mode,
    )


def _nll(a: Any, x: Any, label: Any, w: Any) -> tuple[Any, None]:
    loss = P.nll_loss(x, label, w, a.ignore_index, a.reduction)
    return loss, None


# Paddle's operation gives the shares first.
def _margins(a: Any, x: Any, label: Any) -> tuple[Any, Any]:
    loss, shares = P.margin_cross_entropy(
        x, label, a.margin1, a.margin2, a.margin3, a.scale, return_softmax=True, reduction=None
    )
    return shares, loss


def _identity_loss(a: Any, x: Any) -> Any:
    # Numbers of the reductions in C++: sum 0, mean 1, none 2.
    if a.reduction == 2:
        return x
    if a.reduction == 1:
        return P.mean(x)
    return P.sum(x)


def _masked_softmax(a: Any, x: Any) -> Tensor:
    return softmax_mask_fuse_upper_triangle(x)


def _ctc(a: Any, x: Any, labels: Any, lengths: Any, sizes: Any) -> Any:
    # One loss per sample, in a column.
    return P.ctc_loss(x, labels, lengths, sizes, a.blank, "none").reshape([-1, 1])


def _accuracy(indices: Any, label: Any) -> tuple[Any, Any, Any]:
    # A sample is right if one of its k classes is the label.
    hit = P.cast(P.any(P.equal(indices, P.cast(label, indices.dtype)), 1), "int32")
    right = P.sum(hit, dtype="int32")
    count = indices.shape[0]
    return P.divide(P.cast(right, "float32"), P.full([], count, "float32")), right, P.full([], count, "int32")


_CONVERTED = {
    # arithmetic, linear algebra
    "pow": lambda a, x: P.pow(x, a.y),
    "neg": lambda a, x: P.neg(x),
    "gcd": lambda a, x, y: P.gcd(x, y),
    "lcm": lambda a, x, y: P.lcm(x, y),  # Paddle does not run them when they stand in a file
    "lu_unpack": lambda a, x, y: P.lu_unpack(x, y, a.unpack_ludata, a.unpack_pivots),
    "lstsq": lambda a, x, y, s_rcond: P.lstsq(x, y, s_rcond, a.driver),
    "standard_gamma": lambda a, x: P.standard_gamma(x),
    "lu": lambda a, x: P.lu(x, a.pivot, True),
    "pinv": lambda a, x: P.pinv(x),
    "matrix_rank": lambda a, x: P.matrix_rank(x, None if a.use_default_tol else a.tol, a.hermitian),
    "matrix_rank_tol": lambda a, x, tol: P.matrix_rank(x, tol, a.hermitian),
    "matrix_rank_atol_rtol": lambda a, x, atol, rtol: P.matrix_rank(
        x, hermitian=a.hermitian, atol=atol, rtol=rtol
    ),
    "increment_": lambda a, x: P.scale(x, 1.0, a.value),
    # reductions
    "mean_all": lambda a, x: P.mean(x),
    "frobenius_norm": lambda a, x, n_axis: P.vector_norm(
        x, 2.0, None if a.reduce_all else _axes(n_axis), a.keep_dim
    ),
    "squared_l2_norm": lambda a, x: P.sum(P.square(x)).reshape([1]),
    "l1_norm": lambda a, x: P.sum(P.abs(x)),
    "median": lambda a, x: P.median(
        x, None if len(a.axis) == x.ndim > 1 else _lone(a.axis), a.keepdim, a.mode
    ),
    "nanmedian": lambda a, x: P.nanmedian(x, _lone(a.axis), a.keepdim, a.mode),
    "bincount": lambda a, x, weights, s_minlength: P.bincount(x, weights, s_minlength),
    # random numbers
    "gaussian": lambda a, n_shape: P.normal(a.mean, a.std, n_shape).astype(a.dtype),
    "randint": lambda a, n_shape: P.randint(a.low, a.high, n_shape, a.dtype),
    "randperm": lambda a: P.randperm(a.n, a.dtype),
    "binomial": lambda a, count, share: P.binomial(count, share),
    "multinomial": lambda a, x, s_count: P.multinomial(x, s_count, a.replacement),
    # new tensors
    "full": lambda a: P.full(a.shape, a.value, a.dtype),
    "full_": lambda a, x: P.full(a.shape, a.value, a.dtype),
    "full_like": lambda a, x, s_value: P.full_like(x, s_value, _dtype(a.dtype)),
    "full_with_tensor": lambda a, value, n_shape: (
        P.expand(P.cast(P.reshape(value, [1]), a.dtype), n_shape) if n_shape else P.reshape(value, [])
    ),
    "full_batch_size_like": _full_batch_size_like,
    "assign_value_": lambda a, x: P.to_tensor(np.array(a.values).reshape(a.shape), a.dtype),
    "assign_out_": lambda a, x, out: P.assign(x),
    "empty": lambda a, n_shape: P.zeros(n_shape, a.dtype),
    "eye": lambda a, s_rows, s_columns: P.eye(int(s_rows), int(s_columns), a.dtype),
    "arange": lambda a, s_start, s_end, s_step: P.arange(s_start, s_end, s_step, a.dtype),
    "linspace": lambda a, s_start, s_stop, s_num: P.linspace(s_start, s_stop, s_num, a.dtype),
    "logspace": lambda a, s_start, s_stop, s_num, s_base: P.logspace(s_start, s_stop, s_num, s_base, a.dtype),
    "tril_indices": lambda a: P.tril_indices(a.rows, a.cols, a.offset, a.dtype),
    "triu_indices": lambda a: P.triu_indices(a.row, a.col, a.offset, a.dtype),
    # shapes
    "view_slice": lambda a, x: P.slice(x, [0], [a.begin_idx], [a.end_idx]),
    "trans_layout": lambda a, x: P.transpose(x, a.perm),
    "expand_as": lambda a, x, y: P.expand(x, a.target_shape if y is None else list(y.shape)),
    "broadcast_tensors": lambda a, xs: list(P.broadcast_tensors(xs)),
    # Paddle does not run it when it stands in a file
    "as_strided": lambda a, x: P.as_strided(x, a.dims, a.stride, a.offset),
    "rot90": lambda a, x: P.rot90(x, a.k, a.axes),
    "repeat_interleave_with_tensor_index": lambda a, x, repeats: P.repeat_interleave(x, repeats, a.axis),
    "crop": lambda a, x, n_shape, n_offsets: P.crop(x, n_shape, n_offsets),
    "pad": lambda a, x, s_value: P.pad(x, a.paddings, "constant", s_value),
    # joining and splitting
    "split_with_num": lambda a, x, s_axis: list(P.split(x, a.num, s_axis)),
    # indexing
    "set_value_": _set_numbers,
    "set_value": _set_numbers,
    "nonzero": lambda a, x: P.nonzero(x),
    "fill": lambda a, x, s_value: P.full_like(x, s_value),
    "fill_diagonal_tensor": lambda a, x, y: _fill_diagonal(a, x, y),
    "sequence_mask": lambda a, x, s_length: P.sequence_mask(
        x, s_length if s_length is not None and s_length >= 0 else None, a.out_dtype
    ),
    # sorting
    "unique": _unique,
    "unique_consecutive": lambda a, x: P.unique_consecutive(x, True, True, _one_axis(a.axis), a.dtype),
    # layers
    # as Paddle's kernels, which read the lengths of the result alone
    "unpool": lambda a, x, indices, n_size: put_back("unpool", x, indices, n_size),
    "unpool3d": lambda a, x, indices: put_back("unpool3d", x, indices, a.output_size),
    "fold": lambda a, x: P.fold(x, a.output_sizes, a.kernel_sizes, a.strides, a.paddings, a.dilations),
    "dropout": _dropout,
    "embedding_with_scaled_gradient": lambda a, x, w: P.embedding(
        x, w, None if a.padding_idx == -1 else a.padding_idx, scale_grad_by_freq=True
    ),
    "trunc_divide": lambda a, x, y: P.divide(x, y, rounding_mode="trunc"),
    "interp_antialias": read_antialias,
    # norms
    "rms_norm": lambda a, x, w: (P.rms_norm(x, a.normalized_shape, w, a.epsilon), None),
    "rrelu": lambda a, x: P.leaky_relu(x, (a.lower + a.upper) / 2),
    # losses
    "margin_cross_entropy": _margins,
    "identity_loss": _identity_loss,
    "fused_softmax_mask": lambda a, x, mask: P.softmax(P.add(x, mask), -1),
    "fused_softmax_mask_upper_triangle": _masked_softmax,
    "nll_loss": _nll,
    "accuracy": lambda a, x, indices, label: _accuracy(indices, label),
    "warpctc": lambda a, x, labels, lengths, sizes: (_ctc(a, x, labels, lengths, sizes), None),
    "hsigmoid_loss": lambda a, x, label, w, b, table, code: (
        P.hsigmoid_loss(x, label, a.num_classes, w, b, table, code),
        None,
        None,
    ),
}
RULES = {name: with_operand_forms(rule) for names, rule in _CONVERTED.items() for name in names.split()}
RULES |= detection_ops.RULES | graph_ops.RULES
# lists of tensors; their items may be numbers on the host
RULES |= {
    "builtin.combine": lambda a, *xs: list(xs),
    "builtin.split": lambda a, xs: xs if len(xs) > 1 else xs[0],
    "create_array": lambda a: [],
    "create_array_like": lambda a, x: [P.full_like(as_tensor(one), a.val) for one in x],
    "array_pop": lambda a, xs: _pop_list(xs, a.index),
    "array_length": lambda a, xs: np.array([len(xs)], np.int64),
    "array_read": lambda a, xs, at: _take_list(
        xs, int(as_numbers(at)[0] if isinstance(as_numbers(at), list) else as_numbers(at))
    ),
    "array_write_": lambda a, xs, item, at: _write_list(xs, int(np.asarray(at).ravel()[0]), item),
    "array_to_tensor": lambda a, xs: _to_tensor(a, as_tensor(xs)),
}
