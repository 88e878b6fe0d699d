"""Functions that pick elements by their values: Paddle has an operation for each, whose results have lengths
that depend on values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paddle_jax._core.ops.op import OPS
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.framework.model_files.decompositions import OpaqueOp
from paddle_jax.framework.model_files.records import Lowering


def _plain(name: str) -> OpaqueOp:
    """An OpaqueOp that is written with its settings as the attributes."""
    return OpaqueOp(name, lambda w, a, out, tensors: w.op(name, list(tensors), out, **dict(a.settings)))


def _with_number(name: str, kind: str, *empty: None) -> OpaqueOp:
    """An OpaqueOp whose last operand is the number `number` among its settings. empty: operands before."""

    def write(w: Any, a: Any, out: Any, tensors: Any) -> Any:
        settings = dict(a.settings)
        number = settings.pop("number")
        given = [*tensors, *empty][: len(tensors) + len(empty)]
        return w.op(name, [*given, w.number(number, kind, (1,))], out, **settings)

    return OpaqueOp(name, write)


_NONZERO, _MASKED, _SUPPRESSED = _plain("nonzero"), _plain("masked_select"), _plain("nms")
_UNIQUE, _RUNS = _plain("unique"), _plain("unique_consecutive")
_REPEATED = _plain("repeat_interleave_with_tensor_index")
_COUNTED, _COUNTED_PLAINLY = _with_number("bincount", "int32"), _with_number("bincount", "int32", None)
_MASK = _with_number("sequence_mask", "int32")


def _nonzero(add: Any, x: Any, as_tuple: bool = False) -> Any:
    if x.ndim == 0:
        return None  # which is refused
    found = add(_NONZERO, [x], [("int64", [None, x.ndim])])[0]
    if as_tuple:
        return tuple([found[:, axis] for axis in range(x.ndim)])
    return found


def _masked_select(add: Any, x: Any, mask: Any, name: str | None = None) -> Any:
    if not isinstance(mask, Tensor) or numpy_dtype(mask) != np.bool_:
        return None
    return add(_MASKED, [x, mask], [(x.dtype, [None])])[0]


def _slices(x: Any, axis: Any) -> tuple[list[None], Any] | tuple[list[Any], Any]:
    """(the lengths of what is picked among, how many there are) for `axis` of unique."""
    if axis is None:
        return [None], x.size
    axis = axis % x.ndim
    shape = list(x.shape)
    count = shape[axis]
    shape[axis] = None
    return shape, count


def _listed(axis: int | None) -> list[int]:
    """`axis` as Paddle's operations have it: empty for all elements."""
    if axis is None:
        return []
    return [axis]


def _unique(
    add: Any,
    x: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    dtype: str = "int64",
    sorted: bool = True,
    name: str | None = None,
) -> Any:
    if x.ndim == 0 or not -x.ndim <= (axis or 0) < x.ndim:
        return None
    shape, count = _slices(x, axis)
    out, *more = add(
        _UNIQUE,
        [x],
        [(x.dtype, shape), (dtype, [None]), (dtype, [count]), (dtype, [None])],
        # Paddle's operation gives all four; what is not wanted is left.
        return_index=True,
        return_inverse=True,
        return_counts=True,
        axis=_listed(axis),
        dtype=dtype,
        is_sorted=True,
    )
    chosen = [
        one for one, wanted in zip(more, (return_index, return_inverse, return_counts), strict=True) if wanted
    ]
    if chosen:
        return (out, *chosen)
    return out


def _unique_consecutive(
    add: Any,
    x: Any,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    dtype: str = "int64",
    name: str | None = None,
) -> Any:
    if x.ndim == 0 or not -x.ndim <= (axis or 0) < x.ndim:
        return None
    shape, count = _slices(x, axis)
    out, *more = add(
        _RUNS,
        [x],
        [(x.dtype, shape), (dtype, [count]), (dtype, [None])],
        return_inverse=True,
        return_counts=True,
        axis=_listed(axis),
        dtype=dtype,
    )
    chosen = [one for one, wanted in zip(more, (return_inverse, return_counts), strict=True) if wanted]
    if chosen:
        return (out, *chosen)
    return out


def _bincount(add: Any, x: Any, weights: Any = None, minlength: Any = 0, name: str | None = None) -> Any:
    if numpy_dtype(x).name not in ("int32", "int64") or x.ndim != 1:
        return None
    if weights is None:
        return add(_COUNTED_PLAINLY, [x], [("int64", [None])], number=minlength)[0]
    if weights.is_floating_point():
        kind = weights.dtype
    else:
        kind = "float64"
    return add(_COUNTED, [x, weights], [(kind, [None])], number=minlength)[0]


def _nms(
    add: Any,
    boxes: Any,
    iou_threshold: Any = 0.3,
    scores: Any = None,
    category_idxs: Any = None,
    categories: Any = None,
    top_k: Any = None,
) -> Any:
    if category_idxs is not None or boxes.ndim != 2:
        return None
    if scores is None:
        return add(_SUPPRESSED, [boxes], [("int64", [None])], threshold=iou_threshold)[0]
    # Paddle's operation wants the boxes in the order of their scores.
    order = OPS["argsort"].public(scores, descending=True)
    gather = OPS["gather"].public
    kept = add(_SUPPRESSED, [gather(boxes, order)], [("int64", [None])], threshold=iou_threshold)[0]
    return gather(order, kept)


def _repeat_interleave(
    add: Callable[..., Any],
    x: Tensor,
    repeats: int,
    axis: int | None = None,
    name: str | None = None,
    *,
    output_size: Any = None,
) -> Any:
    if not isinstance(repeats, Tensor) or output_size is not None:
        return None
    if axis is None:
        x = x.reshape([-1])
        axis = 0
    shape = list(x.shape)
    shape[axis] = None
    return add(_REPEATED, [x, repeats], [(x.dtype, shape)], axis=axis, output_size=-1)[0]


def _sequence_mask(
    add: Any, x: Any, maxlen: Any = None, dtype: str = "int64", name: str | None = None
) -> Any:
    if maxlen is not None:
        return None
    # -1: the longest of the lengths.
    return add(_MASK, [x], [(dtype, [*x.shape, None])], number=-1, out_dtype=dtype)[0]


nonzero: Lowering = Lowering(record_composite=_nonzero)
masked_select: Lowering = Lowering(record_composite=_masked_select)
nms: Lowering = Lowering(record_composite=_nms)
unique: Lowering = Lowering(record_composite=_unique)
unique_consecutive: Lowering = Lowering(record_composite=_unique_consecutive)
bincount: Lowering = Lowering(record_composite=_bincount)
repeat_interleave: Lowering = Lowering(record_composite=_repeat_interleave)
sequence_mask: Lowering = Lowering(record_composite=_sequence_mask)
