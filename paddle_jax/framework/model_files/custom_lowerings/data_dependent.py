"""Functions whose results have lengths that depend on values: Paddle has an operation for each."""

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.framework.model_files.decompositions import OpaqueOp
from paddle_jax.framework.model_files.records import Lowering
from paddle_jax.vision.ops.boxes import ratios_of


def _plain(name, *counts):
    """An OpaqueOp that is written with its settings as the attributes. counts: dtypes of results that only
    Paddle has, which come last."""

    def write(w, a, out, tensors):
        found = w.op(name, list(tensors), [*out, *[(kind, []) for kind in counts]], **dict(a.settings))
        return found[: len(out)]

    return OpaqueOp(name, write)


_SEGMENTS = _plain("segment_pool", "float32")
_PATHS = _plain("viterbi_decode")
_PRIORS = _plain("prior_box")
_MATRIX = _plain("matrix_nms")
_PROPOSALS = _plain("generate_proposals")


def _segments(kind):
    def record(add, data, segment_ids, name=None):
        return add(_SEGMENTS, [data, segment_ids], [(data.dtype, [None, *data.shape[1:]])], pooltype=kind)[0]

    return Lowering(record_composite=record)


def _viterbi(add, potentials, transition_params, lengths, include_bos_eos_tag=True, name=None):
    batch = potentials.shape[0]
    return tuple(
        add(
            _PATHS,
            [potentials, transition_params, lengths],
            [(potentials.dtype, [batch]), ("int64", [batch, None])],
            include_bos_eos_tag=bool(include_bos_eos_tag),
        )
    )


def _write_reindex(w, a, out, tensors):
    return w.op("reindex_graph", [*tensors, None, None], out)


_REINDEXED = OpaqueOp("reindex_graph", _write_reindex)


def _reindex(add, x, neighbors, count, value_buffer=None, index_buffer=None, name=None):
    length = neighbors.shape[0]
    dtype = x.dtype
    return tuple(
        add(_REINDEXED, [x, neighbors, count], [(dtype, [length]), (dtype, [length]), (dtype, [None])])
    )


def _priors(
    add,
    input,
    image,
    min_sizes,
    max_sizes=None,
    aspect_ratios=(1.0,),
    variance=(0.1, 0.1, 0.2, 0.2),
    flip=False,
    clip=False,
    steps=(0.0, 0.0),
    offset=0.5,
    min_max_aspect_ratios_order=False,
    name=None,
):
    listed = [list(v) if isinstance(v, list | tuple) else [v] for v in (min_sizes, aspect_ratios)]
    most = list(max_sizes or [])
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
    add,
    bboxes,
    scores,
    score_threshold,
    post_threshold,
    nms_top_k,
    keep_top_k,
    use_gaussian=False,
    gaussian_sigma=2.0,
    background_label=0,
    normalized=True,
    return_index=False,
    return_rois_num=True,
    name=None,
):
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
    return out, count if return_rois_num else None, index if return_index else None


def _proposals(
    add,
    scores,
    bbox_deltas,
    img_size,
    anchors,
    variances,
    pre_nms_top_n=6000,
    post_nms_top_n=1000,
    nms_thresh=0.5,
    min_size=0.1,
    eta=1.0,
    pixel_offset=False,
    return_rois_num=False,
    name=None,
):
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


def _write_levels(w, a, out, tensors):
    settings = dict(a.settings)
    count = settings["max_level"] - settings["min_level"] + 1
    return w.lists_op(
        "distribute_fpn_proposals", list(tensors), [out[:count], out[count : 2 * count], out[-1]], **settings
    )


_LEVELS = OpaqueOp("distribute_fpn_proposals", _write_levels)


def _distribute(
    add,
    fpn_rois,
    min_level,
    max_level,
    refer_level,
    refer_scale,
    pixel_offset=False,
    rois_num=None,
    name=None,
):
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


def _sent(name, counts):
    def write(w, a, out, tensors):
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


def _rows(x, out_size):
    """(the length that a user gives or 0, how many rows the result has); None for a computed length."""
    if out_size is None or type(out_size) is int and out_size <= 0:
        return 0, x.shape[0]
    if isinstance(out_size, Tensor):
        return None
    return (out_size, out_size)


def _broadcast(x, y):
    """The shape of a row of both."""
    one = list(x.shape[1:])
    other = list(y.shape[1:])
    rank = max(len(one), len(other), 1)
    both = zip([1] * (rank - len(one)) + one, [1] * (rank - len(other)) + other, strict=True)
    return [b if a == 1 else a for a, b in both]


def _send(add, x, src_index, dst_index, reduce_op="sum", out_size=None, name=None):
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


def _send_both(add, x, y, src_index, dst_index, message_op="add", reduce_op="sum", out_size=None, name=None):
    rows = _rows(x, out_size)
    if rows is None or x.dtype != y.dtype or reduce_op not in ("sum", "mean", "max", "min"):
        return None
    # Paddle has no operations for differences and quotients
    if message_op == "sub":
        y = -y
    elif message_op == "div":
        y = 1 / y
    else:
        y = y
    message = {"sub": "add", "div": "mul"}.get(message_op, message_op)
    return add(
        _SENT_BOTH,
        [x, y, src_index, dst_index],
        [(x.dtype, [rows[1], *_broadcast(x, y)])],
        message_op=message.upper(),
        reduce_op=reduce_op.upper(),
        size=rows[0],
    )[0]


def _join(add, x, y, src_index, dst_index, message_op="add", name=None):
    if x.dtype != y.dtype:
        return None
    if message_op == "sub":
        y = -y
    elif message_op == "div":
        y = 1 / y
    else:
        y = y
    message = {"sub": "add", "div": "mul"}.get(message_op, message_op)
    return add(
        _JOINED,
        [x, y, src_index, dst_index],
        [(x.dtype, [src_index.shape[0], *_broadcast(x, y)])],
        message_op=message.upper(),
    )[0]


send_u_recv = Lowering(record_composite=_send)
send_ue_recv = Lowering(record_composite=_send_both)
send_uv = Lowering(record_composite=_join)
segment_sum = _segments("SUM")
segment_mean = _segments("MEAN")
segment_max = _segments("MAX")
segment_min = _segments("MIN")
viterbi = Lowering(record_composite=_viterbi)
reindex = Lowering(record_composite=_reindex)
priors = Lowering(record_composite=_priors)
matrix_nms = Lowering(record_composite=_matrix_nms)
proposals = Lowering(record_composite=_proposals)
distribute = Lowering(record_composite=_distribute)
