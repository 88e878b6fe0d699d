"""Operations of detectors in Paddle's model files and `_C_ops`: boxes, regions and which of them are
kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddle_jax.framework.model_files.reading_helpers import P, with_operand_forms
from paddle_jax.vision.ops.suppression import multiclass_nms

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


def _prior_box(a: Any, x: Any, image: Any) -> Any:
    return P.prior_box(
        x,
        image,
        list(a.min_sizes),
        list(a.max_sizes) or None,
        list(a.aspect_ratios),
        list(a.variances),
        a.flip,
        a.clip,
        [a.step_w, a.step_h],
        a.offset,
        a.min_max_aspect_ratios_order,
    )


def _box_coder(a: Any, anchors: Any, factors: Any, boxes: Any) -> Any:
    return P.box_coder(
        anchors,
        list(a.variance) if factors is None else factors,
        boxes,
        a.code_type,
        a.box_normalized,
        a.axis,
    )


def _matrix_nms(a: Any, boxes: Any, scores: Any) -> tuple[Any, Any, Any]:
    out, count, number = P.matrix_nms(
        boxes,
        scores,
        a.score_threshold,
        a.post_threshold,
        a.nms_top_k,
        a.keep_top_k,
        a.use_gaussian,
        a.gaussian_sigma,
        a.background_label,
        a.normalized,
        return_index=True,
    )
    # Paddle's operation has the results in another order than its function.
    return out, number, count


def _multiclass_nms(a: Any, boxes: Any, scores: Any, counts: Any) -> tuple[Tensor, Tensor, Tensor]:
    return multiclass_nms(
        boxes,
        scores,
        counts,
        a.score_threshold,
        (a.nms_top_k, a.keep_top_k),
        a.nms_threshold,
        a.normalized,
        a.nms_eta,
        a.background_label,
    )


def _generate_proposals(a: Any, scores: Any, deltas: Any, size: Any, anchors: Any, variances: Any) -> Any:
    return P.generate_proposals(
        scores,
        deltas,
        size,
        anchors,
        variances,
        a.pre_nms_top_n,
        a.post_nms_top_n,
        a.nms_thresh,
        a.min_size,
        a.eta,
        a.pixel_offset,
        return_rois_num=True,
    )


def _pooled(function: str, **more: Any) -> Callable[..., Any]:
    return lambda a, x, boxes, counts: getattr(P, function)(
        x,
        boxes,
        counts,
        [a.pooled_height, a.pooled_width],
        a.spatial_scale,
        **{name: getattr(a, key) for name, key in more.items()},
    )


def _roi_pool(a: Any, x: Any, boxes: Any, counts: Any) -> tuple[Any, None]:
    return _pooled("roi_pool")(a, x, boxes, counts), None


def _yolo_loss(a: Any, x: Any, boxes: Any, labels: Any, scores: Any) -> tuple[Any, None, None]:
    loss = P.yolo_loss(
        x,
        boxes,
        labels,
        list(a.anchors),
        list(a.anchor_mask),
        a.class_num,
        a.ignore_thresh,
        a.downsample_ratio,
        scores,
        a.use_label_smooth,
        scale_x_y=a.scale_x_y,
    )
    return loss, None, None


def _distribute(a: Any, regions: Any, counts: Any) -> tuple[Any, Any, Any]:
    parts, restore, per_image = P.distribute_fpn_proposals(
        regions, a.min_level, a.max_level, a.refer_level, a.refer_scale, a.pixel_offset, counts
    )
    # In the order of the results in the file.
    return parts, per_image, restore


def _deformable_conv(a: Any, x: Any, offset: Any, weight: Any, mask: Any) -> Any:
    return P.deform_conv2d(
        x,
        offset,
        weight,
        None,
        list(a.strides),
        list(a.paddings),
        list(a.dilations),
        a.deformable_groups,
        a.groups,
        mask,
    )


_RULES = {
    "nms": lambda a, boxes: P.nms(boxes, a.threshold),
    "deformable_conv": _deformable_conv,
    "prior_box": _prior_box,
    "box_coder": _box_coder,
    "matrix_nms": _matrix_nms,
    "generate_proposals": _generate_proposals,
    "multiclass_nms3": _multiclass_nms,
    "roi_align": _pooled("roi_align", sampling_ratio="sampling_ratio", aligned="aligned"),
    "yolo_loss": _yolo_loss,
    "distribute_fpn_proposals": _distribute,
    "roi_pool": _roi_pool,
    "psroi_pool": _pooled("psroi_pool"),
}
RULES = {name: with_operand_forms(rule) for name, rule in _RULES.items()}

__all__ = ["RULES"]
