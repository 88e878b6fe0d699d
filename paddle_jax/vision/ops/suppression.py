"""Which of many overlapping boxes are kept. How many is known only from the values, so these functions
run on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite
from paddle_jax._core.tensors.tensor import host_value
from paddle_jax.tensor.creation import to_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._core.tensors.tensor import Tensor


def areas(boxes: np.ndarray, extra: float = 0) -> np.ndarray:
    """Width times height of boxes [..., 4]."""
    return (boxes[..., 2] - boxes[..., 0] + extra) * (boxes[..., 3] - boxes[..., 1] + extra)


def overlaps(one: np.ndarray, many: np.ndarray, extra: float = 0) -> np.ndarray:
    """Intersection by union of boxes [..., 4] and boxes [n, 4]; 0 where they do not meet."""
    one = one[..., None, :]
    width = np.minimum(one[..., 2], many[:, 2]) - np.maximum(one[..., 0], many[:, 0])
    height = np.minimum(one[..., 3], many[:, 3]) - np.maximum(one[..., 1], many[:, 1])
    common = np.where((width < 0) | (height < 0), 0, (width + extra) * (height + extra))
    union = areas(one, extra) + areas(many, extra) - common
    # Boxes without area overlap nothing.
    return np.divide(common, union, out=np.zeros_like(common), where=common > 0)


def suppressed(
    boxes: np.ndarray, threshold: float, extra: float = 0, eta: float = 1.0, most: int | None = None
) -> np.ndarray:
    """Numbers of the boxes that are kept: in order, each one that overlaps no kept one by more
    than the threshold.

    eta: below 1, the threshold is multiplied by it after each kept box, as long as it is above 0.5.
    """
    kept = []
    left = np.arange(len(boxes))
    while len(left) and (most is None or len(kept) < most):
        kept.append(left[0])
        left = left[1:]
        # The plain form: all that overlap the best one are left out at once.
        if eta >= 1:
            left = left[overlaps(boxes[kept[-1]], boxes[left], extra) <= threshold]
            continue
        # Adaptive: the threshold falls while it is high.
        if threshold > 0.5:
            threshold *= eta
        # the next one that is kept is judged by this threshold
        while len(left) and overlaps(boxes[left[0]], boxes[kept], extra).max() > threshold:
            left = left[1:]
    return np.asarray(kept, np.int64)


def descending(scores: np.ndarray) -> np.ndarray:
    """The order of falling scores; equal ones stay in their order."""
    # Stable, as in Paddle: of equal scores the first comes first.
    return np.argsort(-scores, kind="stable")


_BOXES = "const([[0,0,10,10],[1,1,11,11],[20,20,30,30],[0,0,9,10],[20,20,30,31]]) * 1.0"
_SCORES = "const([1,9,5,8,6]) * 0.1"
_KINDS = "const([0,1,0,0,1])"


@known_as(code="selections:nms")
@composite(
    method=False,
    cases=[
        _BOXES,
        f"{_BOXES}, .3, {_SCORES}",
        f"{_BOXES}, .3, {_SCORES}, {_KINDS}, [0,1]",
        f"{_BOXES}, .3, {_SCORES}, {_KINDS}, [0,1], 2",
        f"{_BOXES}, .3, {_SCORES}, {_KINDS}, [0,1], 9",
        f"{_BOXES}, .3, {_SCORES}, {_KINDS}, [0]",
        f"{_BOXES}, .3, None, {_KINDS}, [0,1]",
        f"{_BOXES}, .3, {_SCORES}, {_KINDS}",
        f"{_BOXES}, .3, {_SCORES}, {_KINDS}, [5]",
        f"{_BOXES}, 1.5",
        f"{_BOXES}, -1",
        f"({_BOXES})[:, :3]",
        f"({_BOXES}).astype('float64'), .3, ({_SCORES}).astype('float64')",
        f"({_BOXES})[:0]",
        f"{_BOXES}, .3, {_SCORES}, top_k=1",
        "const([[0,0,2,1],[0,0,1,1]]) * 1.0, .5",
        "const([[0,0,2,1],[0,0,1,1]]) * 1.0, .499",
        "u(0,1,20,4).detach().cumsum(1), .1, u(0,1,20).detach()",
    ],
)
def nms(
    boxes: Tensor,
    iou_threshold: float = 0.3,
    scores: Tensor | None = None,
    category_idxs: Tensor | None = None,
    categories: Sequence[int] | None = None,
    top_k: int | None = None,
) -> Tensor:
    """Non-maximum suppression: leaves out boxes that overlap a better one too much.

    Args:
        boxes: Tensor [N, 4] of (x1, y1, x2, y2), float32 or float64.
        iou_threshold: float, intersection by union above which the worse box goes. Default 0.3.
        scores: Tensor [N]. Default None: the boxes are sorted already, the best first.
        category_idxs: int64 Tensor [N], the category of each box; only boxes of one category compete. It
            counts only with scores. Default None.
        categories: list of the categories to look at.
        top_k: int, how many to keep at most, over all categories. It counts only with categories.
            Default None: all.
    Returns:
        int64 Tensor [K], the numbers of the kept boxes, best first.
    Raises:
        AssertionError: category_idxs without categories, or top_k is more than N.
        ValueError: boxes are not [N, 4].
    Example:
        >>> boxes = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [5.0, 5.0, 6.0, 6.0]])
        >>> paddle.vision.ops.nms(boxes, 0.5, paddle.to_tensor([0.5, 0.9, 0.1])).tolist()
        [1, 2]
    """
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(f"(InvalidArgument) nms: boxes: got shape {list(boxes.shape)}; it must be [N, 4]")
    corners = host_value(boxes, "nms")
    if scores is None:
        return to_tensor(suppressed(corners, iou_threshold))
    values = host_value(scores, "nms")
    if category_idxs is None:
        # `suppressed` takes the boxes from the best one on.
        order = descending(values)
        return to_tensor(order[suppressed(corners[order], iou_threshold)])
    if categories is None:
        raise AssertionError(
            "nms: categories: got None with category_idxs; it must be a list of the categories"
        )
    if top_k is not None and top_k > len(values):
        raise AssertionError(f"nms: top_k: got {top_k}; there are only {len(values)} boxes")
    if top_k is not None and top_k < 1:
        raise ValueError(f"nms: top_k: got {top_k}; it must be at least 1")
    kinds = host_value(category_idxs, "nms")
    kept = []
    for kind in categories:
        of_kind = np.flatnonzero(kinds == int(kind))
        order = of_kind[descending(values[of_kind])]
        kept.append(order[suppressed(corners[order], iou_threshold)])
    # By position first, so that equal scores keep their order.
    kept = np.sort(np.concatenate([np.zeros(0, np.int64), *kept]))
    return to_tensor(kept[descending(values[kept])][:top_k])


def _decayed(scores: np.ndarray, boxes: np.ndarray, extra: float, gaussian: bool, sigma: float) -> np.ndarray:
    """Scores, best first, each lowered by its overlaps with better ones."""
    iou = np.tril(overlaps(boxes, boxes, extra), -1)  # [worse, better]
    # How much each box itself is covered by better ones.
    largest = iou.max(1, initial=0)[None, :]
    if gaussian:
        factors = np.exp((largest**2 - iou**2) * sigma)
    else:
        # Wang and others, 2020: decay by overlap, set against that of the better box.
        factors = (1 - iou) / (1 - largest)
    # Only better boxes, which stand before, lower a score.
    better = np.tri(len(scores), k=-1, dtype=bool)
    return scores * np.where(better, factors, 1).min(1, initial=1).astype(scores.dtype)


def _matrix_nms_image(
    boxes: np.ndarray,
    scores: np.ndarray,
    limits: Sequence[float],
    top: Sequence[int],
    extra: float,
    gaussian: bool,
    sigma: float,
    background: int,
) -> list[tuple[int, Any, Any]]:
    """(class, score, box number) of what is kept in one image."""
    found = []
    for kind, values in enumerate(scores):
        if kind == background:
            continue
        # Weak boxes are left out before the overlaps are computed.
        chosen = np.flatnonzero(values > limits[0])
        # A negative number means all.
        chosen = chosen[descending(values[chosen])][: None if top[0] < 0 else top[0]]
        lowered = _decayed(values[chosen], boxes[chosen], extra, gaussian, sigma)
        found += [
            (kind, value, number) for value, number in zip(lowered, chosen, strict=True) if value > limits[1]
        ]
    order = descending(np.asarray([value for _, value, _ in found], scores.dtype))
    return [found[i] for i in order[: None if top[1] < 0 else top[1]]]


_MATRIX = "u(0,1,2,6,4).detach().cumsum(2), u(0,1,2,3,6).detach()"


@known_as(code="data_dependent:matrix_nms")
@composite(
    method=False,
    cases=[
        f"{_MATRIX}, .1, .05, 4, 5",
        f"{_MATRIX}, .1, .05, -1, -1, True, 2.",
        f"{_MATRIX}, .1, .3, 4, 5, background_label=-1, return_index=True",
        f"{_MATRIX}, .1, .05, 4, 5, normalized=False, return_rois_num=False",
        f"{_MATRIX}, 2., .05, 4, 5, return_index=True",
        "ud(0,1,1,6,4).detach().cumsum(2), ud(0,1,1,3,6).detach(), .1, .05, 4, 5",
    ],
)
def matrix_nms(
    bboxes: Tensor,
    scores: Tensor,
    score_threshold: float,
    post_threshold: float,
    nms_top_k: int,
    keep_top_k: int,
    use_gaussian: bool = False,
    gaussian_sigma: float = 2.0,
    background_label: int = 0,
    normalized: bool = True,
    return_index: bool = False,
    return_rois_num: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Suppression of all classes at once: scores are lowered by the overlaps with better boxes of their class
    instead of dropping boxes in turn.

    Args:
        bboxes: Tensor [N, M, 4] of (x1, y1, x2, y2).
        scores: Tensor [N, C, M].
        score_threshold: float, boxes with less are not looked at.
        post_threshold: float, boxes whose lowered score is less go.
        nms_top_k: int, how many of a class are looked at; -1 for all.
        keep_top_k: int, how many of an image are kept; -1 for all.
        use_gaussian: bool, lower by exp(sigma (m^2 - iou^2)) instead of (1 - iou) / (1 - m), m the better
            box's own largest overlap. Default False.
        gaussian_sigma: float. Default 2.0.
        background_label: int, a class that is left out; -1 for none. Default 0.
        normalized: bool; False where coordinates are whole pixels and a box has one pixel more than their
            difference. Default True.
        return_index: bool. Default False.
        return_rois_num: bool. Default True.
    Returns:
        out, Tensor [K, 6] of (class, score, x1, y1, x2, y2); then int32 Tensor [N], how many of each image,
        and int32 Tensor [K, 1], numbers of the boxes (image * M + box), or None where not asked for: (out,
        numbers of images, numbers of boxes).
    Example:
        >>> boxes, scores = (paddle.to_tensor([[[0.0, 0.0, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]]]),
        ...                  paddle.to_tensor([[[0.9, 0.8]]]))
        >>> out, count, _ = paddle.vision.ops.matrix_nms(boxes, scores, 0.1, 0.1, 10, 10, background_label=-1)
        >>> count.tolist(), out.shape
        ([2], paddle.Size([2, 6]))
    See:
        Wang et al., SOLOv2, arXiv 2003.10152.
    """
    corners = host_value(bboxes, "matrix_nms")
    values = host_value(scores, "matrix_nms")
    shared = (
        (score_threshold, post_threshold),
        (nms_top_k, keep_top_k),
        0 if normalized else 1,
        use_gaussian,
        gaussian_sigma,
        background_label,
    )
    images = [_matrix_nms_image(*image, *shared) for image in zip(corners, values, strict=True)]
    rows = [
        # one row for each box that is kept, of all images
        [kind, value, *corners[i, number]]
        for i, image in enumerate(images)
        for kind, value, number in image
    ]
    # Boxes count over all images.
    numbers = [[i * corners.shape[1] + number] for i, image in enumerate(images) for _, _, number in image]
    out = to_tensor(np.asarray(rows, corners.dtype).reshape(-1, 6))
    if return_rois_num:
        count = to_tensor(np.asarray([len(image) for image in images], np.int32))
    else:
        count = None
    return out, count, to_tensor(np.asarray(numbers, np.int32).reshape(-1, 1)) if return_index else None


def multiclass_nms(
    boxes: Tensor,
    scores: Tensor,
    counts: Tensor | None,
    score_threshold: float,
    top: Sequence[int],
    threshold: float,
    normalized: bool,
    eta: float,
    background: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Suppression in each class by itself, then the best of an image: what Paddle calls multiclass_nms3.

    Args:
        boxes, scores: Tensors [N, M, 4] and [N, C, M]; or [M, C, 4] and [M, C] with `counts`, int32 Tensor
            [N], boxes of each image.
        top: (how many of a class are looked at, how many of an image are kept), -1 for all.
    Returns:
        Tensor [K, 6] of (class, score, x1, y1, x2, y2), by class and falling score, in the second form by
        class and number of the box; int32 Tensor [K, 1] of where boxes and scores stand; int32 Tensor [N]
        of how many each image has.
    Raises:
        ValueError: the boxes do not have four numbers, or there are no counts for scores [M, C].
    """
    corners = host_value(boxes, "multiclass_nms3")
    values = host_value(scores, "multiclass_nms3")
    if corners.shape[-1] != 4 or (values.ndim == 2 and counts is None):
        raise ValueError(
            f"(InvalidArgument) multiclass_nms3: got boxes {list(corners.shape)} and scores "
            f"{list(values.shape)}; boxes must be [N, M, 4] with scores [N, C, M], or [M, C, "
            "4] with scores [M, C] and rois_num"
        )
    shared = score_threshold, top, threshold, 0 if normalized else 1, eta, background
    if values.ndim == 3:
        # Places count over all images.
        starts = range(0, values.shape[0] * values.shape[2], values.shape[2] or 1)
        images = [
            # The default of `start` binds its value in this turn of the loop.
            (np.broadcast_to(b, (len(v), *b.shape)), v, lambda kind, box, start=i: start + box)
            for i, b, v in zip(starts, corners, values, strict=False)
        ]
    else:
        ends = np.cumsum(host_value(counts, "multiclass_nms3"))
        images = [
            (
                corners[i:j].swapaxes(0, 1),
                values[i:j].T,
                lambda kind, box, start=i, kinds=values.shape[1]: (start + box) * kinds + kind,
            )
            for i, j in zip((0, *ends[:-1]), ends, strict=True)
        ]
    # The second form has its rows sorted by class and box.
    in_order = list if values.ndim == 3 else sorted
    found = [
        [
            ([kind, v[kind, box], *b[kind, box]], place(kind, box))
            for kind, box in in_order(_of_classes(b, v, *shared))
        ]
        for b, v, place in images
    ]
    flat = [one for image in found for one in image]
    return (
        to_tensor(np.asarray([row for row, _ in flat], corners.dtype).reshape(-1, 6)),
        to_tensor(np.asarray([place for _, place in flat], np.int32).reshape(-1, 1)),
        to_tensor(np.asarray([len(image) for image in found], np.int32)),
    )


def _of_classes(
    boxes: np.ndarray,
    scores: np.ndarray,
    score_threshold: float,
    top: Sequence[int],
    threshold: float,
    extra: float,
    eta: float,
    background: int,
) -> list[tuple[int, int]]:
    """(class, box) of what is kept in one image: boxes [C, M, 4], scores [C, M]."""
    kept = []
    for kind, values in enumerate(scores):
        if kind != background:
            chosen = np.flatnonzero(values > score_threshold)
            chosen = chosen[descending(values[chosen])][: None if top[0] < 0 else top[0]]
            kept += [(kind, box) for box in chosen[suppressed(boxes[kind][chosen], threshold, extra, eta)]]
    # The best of all classes, in the order of the classes.
    if 0 <= top[1] < len(kept):
        best = descending(np.asarray([scores[pair] for pair in kept]))[: top[1]]
        kept = [kept[i] for i in np.sort(best)]
    return kept


__all__ = ["matrix_nms", "multiclass_nms", "nms"]
