"""Operations of detectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_jax.framework.model_files.builder_helpers import binary, pair, reshape
from paddle_jax.framework.model_files.records import Lowering


def _deformable(w: Any, a: Any, out: Any, x: Any, offset: Any, weight: Any, bias: Any, mask: Any) -> Any:
    found = w.op(
        "deformable_conv",
        [x, offset, weight, mask],
        out[0],
        strides=pair(a.stride, 2),
        paddings=pair(a.padding, 2),
        dilations=pair(a.dilation, 2),
        deformable_groups=a.deformable_groups,
        groups=a.groups,
    )
    if bias is None:
        return found
    return binary(w, "add", found, reshape(w, bias, [1, bias.shape[0], 1, 1]), out[0])


def _pooled(name: str, *more: Any, second: str | None = None, channels: bool = False) -> Callable[..., Any]:
    """A rule for regions that are pooled. more: further attributes; second: dtype of a result that Paddle has
    beside."""

    def rule(w: Any, a: Any, out: Any, x: Any, boxes: Any, counts: Any) -> Any:
        height, width = pair(a.output_size, 2)
        attrs = {one: getattr(a, one) for one in more}
        if channels:
            attrs["output_channels"] = out[0][1][1]
        if second is None:
            kinds = out[0]
        else:
            kinds = [out[0], (second, out[0][1])]
        found = w.op(
            name,
            [x, boxes, counts],
            kinds,
            pooled_height=height,
            pooled_width=width,
            spatial_scale=a.spatial_scale,
            **attrs,
        )
        if second is None:
            return found
        return found[0]

    return rule


def _yolo_loss(w: Any, a: Any, out: Any, x: Any, boxes: Any, labels: Any, scores: Any) -> Any:
    count = len(a.anchor_mask)
    side = [x.shape[0], count, x.shape[2], x.shape[3]]
    kinds = [out[0], (x.dtype, side), ("int32", list(boxes.shape[:2]))]
    found = w.op(
        "yolo_loss",
        [x, boxes, labels, scores],
        kinds,
        anchors=a.anchors,
        anchor_mask=a.anchor_mask,
        class_num=a.class_num,
        ignore_thresh=a.ignore_thresh,
        downsample_ratio=a.downsample_ratio,
        use_label_smooth=a.use_label_smooth,
        scale_x_y=a.scale_x_y,
    )
    return found[0]


def _coded(w: Any, a: Any, out: Any, priors: Any, targets: Any, factors: Any) -> Any:
    return w.op(
        "box_coder",
        [priors, factors, targets],
        out[0],
        code_type="encode_center_size" if a.encode else "decode_center_size",
        box_normalized=not a.extra,
        axis=a.axis,
        variance=list(a.factors or ()),
    )


deformable: Lowering = Lowering(_deformable)
yolo_loss: Lowering = Lowering(_yolo_loss)
coded: Lowering = Lowering(_coded)
roi_align: Lowering = Lowering(_pooled("roi_align", "sampling_ratio", "aligned"))
roi_pool: Lowering = Lowering(_pooled("roi_pool", second="int64"))
psroi_pool: Lowering = Lowering(_pooled("psroi_pool", channels=True))
