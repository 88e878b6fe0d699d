"""Regions for the second stage of a detector. How many there are is known only from the values, so these
functions run on the host."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite
from paddle_jax._core.tensors.tensor import host_value
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.vision.ops.suppression import areas, descending, suppressed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._core.tensors.tensor import Tensor

_REGIONS = "const([[0,0,10,10],[0,0,200,200],[0,0,500,400],[5,5,6,6],[0,0,100,120],[3,3,3,2]]) * 1.0"


@known_as(code="data_dependent:distribute")
@composite(
    method=False,
    cases=[
        f"{_REGIONS}, 2, 5, 4, 224, rois_num=const([6],'int32')",
        f"{_REGIONS}, 2, 5, 4, 224, True, const([2,4],'int32')",
        f"{_REGIONS}, 3, 4, 4, 100, rois_num=const([0,6],'int32')",
        f"{_REGIONS}, 2, 5, 4, 224",
        f"{_REGIONS}, 5, 2, 4, 224, rois_num=const([6],'int32')",
    ],
)
def distribute_fpn_proposals(
    fpn_rois: Tensor,
    min_level: int,
    max_level: int,
    refer_level: int,
    refer_scale: int,
    pixel_offset: bool = False,
    rois_num: Tensor | None = None,
    name: str | None = None,
) -> tuple[list[Tensor], Tensor, list[Tensor] | None]:
    """Sends each region to the level of a feature pyramid that fits its size.

    The level is floor(log2(sqrt(area) / refer_scale)) + refer_level, within min_level and max_level.

    Args:
        fpn_rois: Tensor [R, 4] of (x1, y1, x2, y2), those of the first image first.
        min_level, max_level: int, lowest and highest level.
        refer_level: int, the level of regions of the size refer_scale.
        refer_scale: number, in pixels.
        pixel_offset: bool, coordinates are whole pixels and a box has one pixel more than their
            difference. Default False.
        rois_num: int32 Tensor [N], how many regions each image has.
    Returns:
        (regions of each level, list of Tensors [Ri, 4]; int32 Tensor [R, 1], where each region is in the
        levels put together; list of int32 Tensors [N], how many regions of each image a level has).
    Raises:
        AssertionError: the levels are in the wrong order, or rois_num is missing.
    Example:
        >>> regions, count = (paddle.to_tensor([[0.0, 0.0, 300.0, 300.0], [0.0, 0.0, 50.0, 50.0]]),
        ...                   paddle.to_tensor([2], "int32"))
        >>> levels, order, _ = paddle.vision.ops.distribute_fpn_proposals(regions, 2, 5, 4, 224,
        ...                                                               rois_num=count)
        >>> [level.shape[0] for level in levels], order.flatten().tolist()
        ([1, 0, 1, 0], [1, 0])
    See:
        Lin et al., Feature Pyramid Networks, arXiv 1612.03144.
    """
    if not 0 < min_level < max_level:
        raise AssertionError(
            f"distribute_fpn_proposals: got levels {min_level} to {max_level}; "
            "max_level must be above min_level"
        )
    if rois_num is None:
        raise AssertionError(
            "distribute_fpn_proposals: rois_num: got None; it must say how many regions each image has"
        )
    regions = host_value(fpn_rois, "distribute_fpn_proposals")
    counts = host_value(rois_num, "distribute_fpn_proposals")
    if counts.sum() > len(regions):
        raise IndexError(
            f"distribute_fpn_proposals: rois_num: got counts that add up to {counts.sum()}; "
            f"it must be at most {len(regions)}, the number of regions"
        )
    extra = 1 if pixel_offset else 0
    sides = regions[:, 2:] - regions[:, :2]
    # Boxes whose ends are exchanged have no area.
    scale = np.sqrt(np.where((sides < 0).any(1), 0, areas(regions, extra)).astype(regions.dtype))
    # Lin and others, 2017: the level grows with the logarithm of the side.
    level = np.floor(np.log2(scale / refer_scale + 1e-8)) + refer_level
    # Regions beyond the pyramid go to its first or last level.
    level = np.clip(level, min_level, max_level).astype(int)
    # The image of each region, by how many each image has.
    image = np.repeat(np.arange(len(counts)), counts)
    chosen = [np.flatnonzero(level == number) for number in range(min_level, max_level + 1)]
    # Where each region went, so that results can be put back in order.
    restore = np.empty((len(regions), 1), np.int32)
    restore[np.concatenate(chosen), 0] = np.arange(len(regions))
    per_image = [
        to_tensor(np.bincount(image[rows], minlength=len(counts)).astype(np.int32)) for rows in chosen
    ]
    return [to_tensor(regions[rows]) for rows in chosen], to_tensor(restore), per_image


def _decoded(anchors: np.ndarray, deltas: np.ndarray, variances: np.ndarray, extra: float) -> np.ndarray:
    """Boxes that are anchors moved and grown; the growth is at most 1000 / 16."""
    sizes = anchors[:, 2:] - anchors[:, :2] + extra
    moved = variances * deltas
    centres = moved[:, :2] * sizes + anchors[:, :2] + 0.5 * sizes
    # Limited, so that exp does not overflow for a code that is off.
    halves = np.exp(np.minimum(moved[:, 2:], math.log(1000.0 / 16.0))) * sizes * 0.5
    return np.concatenate([centres - halves, centres + halves - extra], 1)


def _proposed(
    scores: np.ndarray,
    deltas: np.ndarray,
    size: np.ndarray,
    anchors: np.ndarray,
    variances: np.ndarray,
    most: Sequence[int],
    threshold: float,
    least: float,
    eta: float,
    extra: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Boxes and scores that one image keeps."""
    order = descending(scores)[: most[0] if most[0] > 0 else None]
    boxes = _decoded(anchors[order], deltas[order], variances[order], extra)
    limit = (size[::-1] - extra).astype(boxes.dtype)
    boxes = np.minimum(np.maximum(boxes.reshape(-1, 2, 2), 0), limit).reshape(-1, 4)
    sides = boxes[:, 2:] - boxes[:, :2] + extra
    # Boxes below the least size are left out.
    large = (sides >= max(least, 1.0)).all(1)
    # In pixels the centre has to lie in the image.
    if extra:
        large &= (boxes[:, :2] + sides / 2 <= size[::-1]).all(1)
    boxes = boxes[large]
    kept = order[large]
    # A box of zeros stands for none, as in Paddle.
    if not len(boxes):
        return np.zeros((1, 4), boxes.dtype), np.zeros(1, scores.dtype)
    chosen = suppressed(boxes, threshold, extra, eta, most[1] if most[1] > 0 else None)
    return boxes[chosen], scores[kept[chosen]]


_MAPS = (
    "u(0,1,2,3,4,5).detach(), u(-1,1,2,12,4,5).detach(), const([[40,50],[30,60]]) * 1.0, "
    "u(0,16,4,5,3,4).detach().cumsum(-1), u(.5,1,4,5,3,4).detach()"
)


@known_as(code="data_dependent:proposals")
@composite(
    method=False,
    cases=[
        _MAPS,
        f"{_MAPS}, return_rois_num=True",
        f"{_MAPS}, 20, 5, .3, return_rois_num=True",
        f"{_MAPS}, 30, 10, .7, 3., pixel_offset=True, return_rois_num=True",
        f"{_MAPS}, 30, 10, .7, 3., .9, return_rois_num=True",
        f"{_MAPS}, min_size=1000., return_rois_num=True",
    ],
)
def generate_proposals(
    scores: Tensor,
    bbox_deltas: Tensor,
    img_size: Tensor,
    anchors: Tensor,
    variances: Tensor,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    return_rois_num: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Regions proposed by the first stage of a detector: decoded, clipped to the image, without small and
    overlapping ones.

    Args:
        scores: Tensor [N, A, H, W].
        bbox_deltas: Tensor [N, 4 A, H, W], codes relative to the anchors as in `box_coder`.
        img_size: Tensor [N, 2], height and width of each image.
        anchors: Tensor [H, W, A, 4].
        variances: Tensor [H, W, A, 4], factors of the codes.
        pre_nms_top_n: int, how many of an image are looked at. Default 6000.
        post_nms_top_n: int, how many of an image are kept. Default 1000.
        nms_thresh: float, intersection by union above which the worse box goes. Default 0.5.
        min_size: float, boxes with a shorter side go; at least 1. Default 0.1.
        eta: float, below 1 the threshold falls by this factor while it is above 0.5. Default 1.0.
        pixel_offset: bool, coordinates are whole pixels and a box has one pixel more than their
            difference. Default False.
        return_rois_num: bool, must be True. Default False.
    Returns:
        (boxes [R, 4], their scores [R, 1], int32 Tensor [N] of how many each image has). An image without any
        has one of zeros.
    Raises:
        AssertionError: return_rois_num is False.
    Example:
        >>> scores, deltas, ones = (paddle.ones([1, 1, 1, 1]), paddle.zeros([1, 4, 1, 1]),
        ...                         paddle.ones([1, 1, 1, 4]))
        >>> anchor = paddle.to_tensor([[[[1.0, 1.0, 5.0, 5.0]]]])
        >>> size = paddle.to_tensor([[4.0, 9.0]])
        >>> paddle.vision.ops.generate_proposals(scores, deltas, size, anchor, ones,
        ...                                      return_rois_num=True)[0].tolist()
        [[1.0, 1.0, 5.0, 4.0]]
    See:
        Ren et al., Faster R-CNN, arXiv 1506.01497.
    """
    if not return_rois_num:
        raise AssertionError(
            "generate_proposals: return_rois_num: got False; without it nobody knows which "
            "image a region belongs to, pass True"
        )
    values, codes, sizes, boxes, factors = (
        host_value(t, "generate_proposals") for t in (scores, bbox_deltas, img_size, anchors, variances)
    )
    n, a, h, w = values.shape
    # Places first, then anchors, as the boxes lie.
    values = values.transpose(0, 2, 3, 1).reshape(n, -1)
    codes = codes.reshape(n, a, 4, h, w).transpose(0, 3, 4, 1, 2).reshape(n, -1, 4)
    shared = (
        boxes.reshape(-1, 4),
        factors.reshape(-1, 4),
        (pre_nms_top_n, post_nms_top_n),
        nms_thresh,
        min_size,
        eta,
        1 if pixel_offset else 0,
    )
    found = [_proposed(*image, *shared) for image in zip(values, codes, sizes, strict=True)]
    regions, probabilities = (np.concatenate(parts) for parts in zip(*found, strict=True))
    counts = np.asarray([len(part) for part, _ in found], np.int32)
    return to_tensor(regions), to_tensor(probabilities[:, None]), to_tensor(counts)


__all__ = ["distribute_fpn_proposals", "generate_proposals"]
