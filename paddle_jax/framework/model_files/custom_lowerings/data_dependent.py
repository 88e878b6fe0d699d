"""Functions whose results have lengths that depend on values: Paddle has an operation for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.framework.model_files.decompositions import OpaqueOp
from paddle_jax.framework.model_files.plain_values import as_list
from paddle_jax.framework.model_files.records import Lowering
from paddle_jax.vision.ops.boxes import ratios_of


def _plain(name: str, *counts: Any) -> OpaqueOp:
    """An OpaqueOp that is written with its settings as the attributes. counts: dtypes of results that only
    Paddle has, which come last."""

    def write(w: Any, a: Any, out: Any, tensors: Any) -> Any:
        found = w.op(name, list(tensors), [*out, *[(kind, []) for kind in counts]], **dict(a.settings))
        return found[: len(out)]

    return OpaqueOp(name, write)


_SEGMENTS = _plain("segment_pool", "float32")
_PATHS = _plain("viterbi_decode")
_PRIORS = _plain("prior_box")
_MATRIX = _plain("matrix_nms")
_PROPOSALS = _plain("generate_proposals")


def _segments(kind: str) -> Lowering:
    def record(add: Any, data: Any, segment_ids: Any, name: str | None = None) -> Any:
        return add(_SEGMENTS, [data, segment_ids], [(data.dtype, [None, *data.shape[1:]])], pooltype=kind)[0]

    return Lowering(record_composite=record)


def _viterbi(
    add: Any,
    potentials: Any,
    transition_params: Any,
    lengths: Any,
    include_bos_eos_tag: bool = True,
    name: str | None = None,
) -> tuple[Any, ...]:
    batch = potentials.shape[0]
    return tuple(
        # Lengths that depend on values are None.
        add(
            _PATHS,
            [potentials, transition_params, lengths],
            [(potentials.dtype, [batch]), ("int64", [batch, None])],
            include_bos_eos_tag=bool(include_bos_eos_tag),
        )
    )


def _write_reindex(w: Any, a: Any, out: Any, tensors: Any) -> Any:
    return w.op("reindex_graph", [*tensors, None, None], out)


_REINDEXED = OpaqueOp("reindex_graph", _write_reindex)


def _reindex(
    add: Any,
    x: Any,
    neighbors: Any,
    count: Any,
    value_buffer: Any = None,
    index_buffer: Any = None,
    name: str | None = None,
) -> tuple[Any, ...]:
    length = neighbors.shape[0]
    dtype = x.dtype
    return tuple(
        add(_REINDEXED, [x, neighbors, count], [(dtype, [length]), (dtype, [length]), (dtype, [None])])
    )


def _priors(
    add: Any,
    input: Any,
    image: Any,
    min_sizes: Any,
    max_sizes: Any = None,
    aspect_ratios: Any = (1.0,),
    variance: Any = (0.1, 0.1, 0.2, 0.2),
    flip: bool = False,
    clip: bool = False,
    steps: Any = (0.0, 0.0),
    offset: Any = 0.5,
    min_max_aspect_ratios_order: bool = False,
    name: str | None = None,
) -> tuple[Any, ...]:
    listed = [as_list(v) for v in (min_sizes, aspect_ratios)]
    most = list(max_sizes or [])
    # One box per size and ratio, and one per largest size.
    count = len(listed[0]) * len(ratios_of(listed[1], flip)) + len(most)
    kind = input.dtype, [*input.shape[2:], count, 4]
    return tuple(
        add(
            _PRIORS,
            [input, image],
            [kind, kind],
            min_sizes=listed[0],
            max_sizes=most,
            aspect_ratios=listed[1],
            variances=list(variance),
            flip=flip,
            clip=clip,
            step_w=steps[0],
            step_h=steps[1],
            offset=offset,
            min_max_aspect_ratios_order=min_max_aspect_ratios_order,
        )
    )


def _matrix_nms(
    add: Any,
    bboxes: Any,
    scores: Any,
    score_threshold: Any,
    post_threshold: Any,
    nms_top_k: Any,
    keep_top_k: Any,
    use_gaussian: bool = False,
    gaussian_sigma: Any = 2.0,
    background_label: Any = 0,
    normalized: bool = True,
    return_index: bool = False,
    return_rois_num: bool = True,
    name: str | None = None,
) -> tuple[Any, Any | None, Any | None]:
    out, index, count = add(
        _MATRIX,
        [bboxes, scores],
        [(bboxes.dtype, [None, 6]), ("int32", [None, 1]), ("int32", [bboxes.shape[0]])],
        score_threshold=score_threshold,
        nms_top_k=nms_top_k,
        keep_top_k=keep_top_k,
        post_threshold=post_threshold,
        use_gaussian=use_gaussian,
        gaussian_sigma=gaussian_sigma,
        background_label=background_label,
        normalized=normalized,
    )
    if not return_rois_num:
        count = None
    if not return_index:
        index = None
    return out, count, index


def _proposals(
    add: Any,
    scores: Any,
    bbox_deltas: Any,
    img_size: Any,
    anchors: Any,
    variances: Any,
    pre_nms_top_n: Any = 6000,
    post_nms_top_n: Any = 1000,
    nms_thresh: Any = 0.5,
    min_size: Any = 0.1,
    eta: Any = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: str | None = None,
) -> tuple[Any, ...] | None:
    if not return_rois_num:
        return None  # which is refused
    kind = scores.dtype
    return tuple(
        add(
            _PROPOSALS,
            [scores, bbox_deltas, img_size, anchors, variances],
            [(kind, [None, 4]), (kind, [None, 1]), ("int32", [scores.shape[0]])],
            pre_nms_top_n=pre_nms_top_n,
            post_nms_top_n=post_nms_top_n,
            nms_thresh=nms_thresh,
            min_size=min_size,
            eta=eta,
            pixel_offset=pixel_offset,
        )
    )


def _write_levels(w: Any, a: Any, out: Any, tensors: Any) -> Any:
    settings = dict(a.settings)
    count = settings["max_level"] - settings["min_level"] + 1
    return w.lists_op(
        "distribute_fpn_proposals", list(tensors), [out[:count], out[count : 2 * count], out[-1]], **settings
    )


_LEVELS = OpaqueOp("distribute_fpn_proposals", _write_levels)


def _distribute(
    add: Any,
    fpn_rois: Any,
    min_level: Any,
    max_level: Any,
    refer_level: Any,
    refer_scale: Any,
    pixel_offset: bool = False,
    rois_num: Any = None,
    name: str | None = None,
) -> tuple[Any, Any, Any] | None:
    if rois_num is None or not 0 < min_level < max_level:
        return None  # which is refused
    count = max_level - min_level + 1
    dtype = fpn_rois.dtype
    images = rois_num.shape[0]
    found = add(
        _LEVELS,
        [fpn_rois, rois_num],
        [*[(dtype, [None, 4])] * count, *[("int32", [images])] * count, ("int32", [fpn_rois.shape[0], 1])],
        min_level=min_level,
        max_level=max_level,
        refer_level=refer_level,
        refer_scale=refer_scale,
        pixel_offset=pixel_offset,
    )
    return found[:count], found[-1], found[count : 2 * count]


# messages along the edges of a graph ------------------------------------------------------------------------


def _sent(name: str, counts: Sequence[str]) -> OpaqueOp:
    def write(w: Any, a: Any, out: Any, tensors: Any) -> Any:
        settings = dict(a.settings)
        size = settings.pop("size")
        kinds = [*out, *[(kind, []) for kind in counts]]
        return w.op(name, [*tensors, w.ints([size])], kinds, **settings)[:1]

    return OpaqueOp(name, write)


_SENT, _SENT_BOTH, _JOINED = (
    _sent("send_u_recv", ["int32"]),
    _sent("send_ue_recv", ["int32"]),
    _plain("send_uv"),
)


def _rows(x: Any, out_size: Any) -> tuple[int, Any] | tuple[Any | int, Any | int] | None:
    """(the length that a user gives or 0, how many rows the result has); None for a computed length."""
    if out_size is None or type(out_size) is int and out_size <= 0:
        return 0, x.shape[0]
    if isinstance(out_size, Tensor):
        return None
    return (out_size, out_size)


def _broadcast(x: Any, y: Any) -> list[int]:
    """The shape of a row of both."""
    one = list(x.shape[1:])
    other = list(y.shape[1:])
    rank = max(len(one), len(other), 1)
    both = zip([1] * (rank - len(one)) + one, [1] * (rank - len(other)) + other, strict=True)
    return [b if a == 1 else a for a, b in both]


def _send(
    add: Any,
    x: Any,
    src_index: Any,
    dst_index: Any,
    reduce_op: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    rows = _rows(x, out_size)
    if rows is None or reduce_op not in ("sum", "mean", "max", "min"):
        return None
    return add(
        _SENT,
        [x, src_index, dst_index],
        [(x.dtype, [rows[1], *x.shape[1:]])],
        reduce_op=reduce_op.upper(),
        size=rows[0],
    )[0]


def _send_both(
    add: Any,
    x: Any,
    y: Any,
    src_index: Any,
    dst_index: Any,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    rows = _rows(x, out_size)
    if rows is None or x.dtype != y.dtype or reduce_op not in ("sum", "mean", "max", "min"):
        return None
    # Paddle has no operations for differences and quotients
    if message_op == "sub":
        y = -y
    elif message_op == "div":
        y = 1 / y
    message = {"sub": "add", "div": "mul"}.get(message_op, message_op)
    return add(
        _SENT_BOTH,
        [x, y, src_index, dst_index],
        [(x.dtype, [rows[1], *_broadcast(x, y)])],
        message_op=message.upper(),
        reduce_op=reduce_op.upper(),
        size=rows[0],
    )[0]


def _join(
    add: Any, x: Any, y: Any, src_index: Any, dst_index: Any, message_op: str = "add", name: str | None = None
) -> Any:
    if x.dtype != y.dtype:
        return None
    if message_op == "sub":
        y = -y
    elif message_op == "div":
        y = 1 / y
    message = {"sub": "add", "div": "mul"}.get(message_op, message_op)
    return add(
        _JOINED,
        [x, y, src_index, dst_index],
        [(x.dtype, [src_index.shape[0], *_broadcast(x, y)])],
        message_op=message.upper(),
    )[0]


send_u_recv: Lowering = Lowering(record_composite=_send)
send_ue_recv: Lowering = Lowering(record_composite=_send_both)
send_uv: Lowering = Lowering(record_composite=_join)
segment_sum: Lowering = _segments("SUM")
segment_mean: Lowering = _segments("MEAN")
segment_max: Lowering = _segments("MAX")
segment_min: Lowering = _segments("MIN")
viterbi: Lowering = Lowering(record_composite=_viterbi)
reindex: Lowering = Lowering(record_composite=_reindex)
priors: Lowering = Lowering(record_composite=_priors)
matrix_nms: Lowering = Lowering(record_composite=_matrix_nms)
proposals: Lowering = Lowering(record_composite=_proposals)
distribute: Lowering = Lowering(record_composite=_distribute)
