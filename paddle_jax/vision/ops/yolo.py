"""Boxes of the one-stage detector YOLOv3, and the loss that trains it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHORT = "f(2,14,3,4), const([[100,120],[90,60]],'int32'), [10,13,16,30], 2"


def _anchors(op_name: str, x: jax.Array, anchors: Sequence[int], chosen: Any, per_box: int) -> np.ndarray:
    """The chosen anchors [A, 2] as (width, height); raises where x has not `per_box` channels for each."""
    if x.ndim != 4:
        raise ValueError(
            f"(InvalidArgument) {op_name}: x: got shape {list(x.shape)}; it must be [N, C, H, W]"
        )
    if not anchors or len(anchors) % 2:
        raise ValueError(
            f"(InvalidArgument) {op_name}: anchors: got {len(anchors)} numbers; "
            "there must be a width and a height for each"
        )
    pairs = np.asarray(anchors, np.float64).reshape(-1, 2)
    if chosen is not None and any(not 0 <= i < len(pairs) for i in chosen):
        raise ValueError(
            f"(InvalidArgument) {op_name}: anchor_mask: got {list(chosen)}; there are {len(pairs)} anchors"
        )
    if chosen is not None:
        pairs = pairs[list(chosen)]
    if x.shape[1] != len(pairs) * per_box:
        raise ValueError(
            f"(InvalidArgument) {op_name}: x: got {x.shape[1]} channels; "
            f"they must be {len(pairs)} * {per_box}"
        )
    return pairs


def _grid(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Column and row number of each cell, [1, W] and [H, 1]."""
    return jnp.arange(x.shape[3], dtype=x.dtype)[None], jnp.arange(x.shape[2], dtype=x.dtype)[:, None]


def _widened(x: jax.Array, scale: float) -> jax.Array:
    """Sigmoid, stretched about its middle so that the cell's border can be reached."""
    # Scaled beyond 0 and 1, so that cell borders can be reached (YOLOv4).
    return jax.nn.sigmoid(x) * scale - 0.5 * (scale - 1)


@known_as(
    pir="yolo_box anchors:i32s class_num:i32 conf_thresh:f32 downsample_ratio:i32 clip_bbox:bool "
    "scale_x_y:f32 iou_aware:bool iou_aware_factor:f32"
)
@op(
    "x img_size",
    method=False,
    nondiff=True,
    cases=[
        f"{_SHORT}, .4, 32",
        f"{_SHORT}, .6, 16, False",
        f"{_SHORT}, .3, 32, scale_x_y=1.2",
        (
            "f(1,16,3,3), const([[100,120]],'int32'), [10,13,16,30], 2, .2, 32, iou_aware=True, "
            "iou_aware_factor=.4"
        ),
        "f(2,13,3,4), const([[100,120],[90,60]],'int32'), [10,13,16,30], 2, .01, 32",
        "f(2,14,3,4), const([[9,9]],'int32'), [10,13,16,30], 2, .01, 32",
        "f(14,3,4), const([[9,9]],'int32'), [10,13,16,30], 2, .01, 32",
        "f(2,14,3,4), const([[9,9],[8,8]],'int32'), [], 2, .01, 32",
        "d(1,7,2,2), const([[50,60]],'int32'), [10,13], 2, .3, 32",
    ],
)
def yolo_box(
    x: jax.Array,
    img_size: jax.Array,
    anchors: Sequence[int],
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> tuple[jax.Array, jax.Array]:
    """Boxes and scores from the feature map of YOLOv3.

    For each anchor, channels are (x, y, w, h, confidence, classes); with iou_aware the overlaps of all
    anchors stand before them.

    Args:
        x: Tensor [N, A (5 + class_num), H, W], or [N, A (6 + class_num), H, W] with iou_aware.
        img_size: int32 Tensor [N, 2], height and width of each image.
        anchors: list of 2 A numbers, width and height of each anchor in pixels of the network's input.
        class_num: int.
        conf_thresh: float, boxes of less confidence get zeros.
        downsample_ratio: int, the network's input size by that of x.
        clip_bbox: bool, cut boxes off at the image's edges. Default True.
        scale_x_y: float, stretches the places in a cell. Default 1.0.
        iou_aware: bool, x has predicted overlaps. Default False.
        iou_aware_factor: float f; the confidence is conf ** (1 - f) * overlap ** f. Default 0.5.
    Returns:
        (boxes [N, A H W, 4] as (x1, y1, x2, y2) in pixels of the image, scores [N, A H W, class_num]).
    Raises:
        ValueError: shapes do not fit.
    Example:
        >>> boxes, scores = paddle.vision.ops.yolo_box(
        ...     paddle.zeros([1, 6, 1, 1]), paddle.to_tensor([[32, 32]], "int32"), [16, 8], 1, 0.1, 32)
        >>> boxes.tolist(), scores.tolist()
        ([[[8.0, 12.0, 24.0, 20.0]]], [[[0.25]]])
    See:
        Redmon and Farhadi, YOLOv3, arXiv 1804.02767.
    """
    pairs = _anchors("yolo_box", x, anchors, None, 5 + class_num + bool(iou_aware))
    n, (height, width), count = x.shape[0], x.shape[2:], len(pairs)
    if img_size.shape != (n, 2):
        raise ValueError(
            f"(InvalidArgument) yolo_box: img_size: got shape {list(img_size.shape)}; it must be [{n}, 2]"
        )
    # The overlaps come first, one channel for each anchor.
    overlap, maps = (x[:, :count], x[:, count:]) if iou_aware else (None, x)
    maps = maps.reshape(n, count, 5 + class_num, height, width)
    sizes = img_size.astype(x.dtype)[:, :, None, None, None]
    # img_size has the height first, boxes have x first.
    ends = jnp.stack([sizes[:, 1], sizes[:, 0]], 1)  # [N, (width, height), 1, 1, 1]
    columns, rows = _grid(x)
    cells = jnp.asarray([width, height], x.dtype)[:, None, None, None]
    places = jnp.stack(
        [columns + _widened(maps[:, :, 0], scale_x_y), rows + _widened(maps[:, :, 1], scale_x_y)], 1
    )
    centres = places * ends / cells
    # The network gives logarithms of sizes relative to the anchors.
    growth = jnp.exp(jnp.moveaxis(maps[:, :, 2:4], 2, 1)) * jnp.asarray(pairs.T, x.dtype)[:, :, None, None]
    halves = growth * ends / (cells * downsample_ratio) / 2
    low = centres - halves
    high = centres + halves
    if clip_bbox:
        low = jnp.maximum(low, 0)
        # The last pixel of an image has the number size - 1.
        high = jnp.minimum(high, ends - 1)
    confidence = jax.nn.sigmoid(maps[:, :, 4])
    if iou_aware:
        # The predicted overlap corrects the confidence.
        confidence = confidence ** (1 - iou_aware_factor) * jax.nn.sigmoid(overlap) ** iou_aware_factor
    sure = confidence >= conf_thresh
    # Boxes below the threshold become zeros, as their number is fixed.
    boxes = jnp.where(sure[:, None], jnp.concatenate([low, high], 1), 0).reshape(n, 4, -1).swapaxes(1, 2)
    scores = jnp.where(sure[:, :, None], confidence[:, :, None] * jax.nn.sigmoid(maps[:, :, 5:]), 0)
    return boxes, scores.transpose(0, 1, 3, 4, 2).reshape(n, -1, class_num)


def _entropy(x: jax.Array, label: Any) -> jax.Array:
    """Cross-entropy of sigmoid(x) with a label between 0 and 1."""
    # Cross entropy of a logit, without overflow.
    return jnp.maximum(x, 0) - x * label + jnp.log1p(jnp.exp(-jnp.abs(x)))


def _overlap(centre1: jax.Array, size1: jax.Array, centre2: jax.Array, size2: jax.Array) -> jax.Array:
    """Intersection by union of boxes given by centres and sizes [..., 2]."""
    low = jnp.maximum(centre1 - size1 / 2, centre2 - size2 / 2)
    high = jnp.minimum(centre1 + size1 / 2, centre2 + size2 / 2)
    # Boxes that only touch have nothing in common.
    common = jnp.where((high - low > 0).all(-1), (high - low).prod(-1), 0)
    return common / (size1.prod(-1) + size2.prod(-1) - common)


def _targets(
    boxes: jax.Array, chosen: Sequence[int], pairs: np.ndarray, side: int, cells: int
) -> tuple[jax.Array, ...]:
    """For each true box [N, B]: whether it counts, the number of its anchor among the chosen ones (-1: none),
    its column and row."""
    # Lists are filled up with empty boxes.
    valid = (boxes[..., 2:] > 1e-6).all(-1)
    shapes = jnp.asarray(pairs / side, boxes.dtype)
    # The anchor of the most similar shape, whatever its place.
    best = _overlap(
        jnp.zeros(2, boxes.dtype), boxes[..., None, 2:], jnp.zeros(2, boxes.dtype), shapes
    ).argmax(-1)
    at = np.full(len(pairs), -1)
    # Backwards: of an anchor that is chosen twice the first place counts.
    for place in range(len(chosen) - 1, -1, -1):
        at[chosen[place]] = place
    anchor = jnp.where(valid, jnp.asarray(at)[best], -1)
    cell = jnp.clip((boxes[..., :2] * cells).astype(jnp.int32), 0, cells - 1)
    return valid, anchor, cell[..., 0], cell[..., 1], shapes[best]


_BOX = "const([[25,40,37,44],[50,25,30,40],[80,80,50,60]]).expand([{0},3,4]) * 0.01"
_TRUE = f"{_BOX.format(2)}, const([[0,1,1],[1,0,0]],'int32'), [10,13,16,30,53,43], [1,2], 2"


def _overlaps(
    x: jax.Array, maps: jax.Array, boxes: jax.Array, valid: jax.Array, shapes: np.ndarray, scale: float
) -> jax.Array:
    """How much each prediction overlaps with each true box, [N, B, A, H, H]. shapes: of the anchors, in
    parts of the image."""
    columns, rows = _grid(x)
    # Only a test: no gradient flows through the overlaps.
    still = lax.stop_gradient(maps)
    centres = (
        jnp.stack([columns + _widened(still[:, :, 0], scale), rows + _widened(still[:, :, 1], scale)], -1)
        / maps.shape[-1]
    )
    sizes = jnp.exp(jnp.moveaxis(still[:, :, 2:4], 2, -1)) * jnp.asarray(shapes, x.dtype)[:, None, None]
    places = boxes[:, :, None, None, None, :2]
    extents = boxes[:, :, None, None, None, 2:]
    return jnp.where(
        valid[:, :, None, None, None], _overlap(centres[:, None], sizes[:, None], places, extents), 0
    )


def _confidence(objectness: jax.Array, wanted: jax.Array, ignored: jax.Array) -> jax.Array:
    """The loss of confidences: 1 is right where a true box is, weighted as it is, nothing where it is
    ignored, elsewhere 0."""
    elsewhere = jnp.where(ignored, 0, _entropy(objectness, 0))
    # Boxes of the truth want 1, others 0; near ones are left out.
    return jnp.where(wanted > 1e-5, _entropy(objectness, 1) * wanted, elsewhere)


@known_as(code="detection:yolo_loss")
@op(
    "x gt_box gt_label gt_score",
    method=False,
    cases=[
        f"f(2,14,3,3), {_TRUE}, .7, 32",
        f"f(2,14,3,3), {_TRUE}, .1, 32, use_label_smooth=False, scale_x_y=1.2",
        f"f(2,14,5,5), {_TRUE}, .3, 8, const([[2,5,9],[9,1,3]]) * 0.1",
        f"f(2,14,3,4), {_TRUE}, .7, 32",
        f"f(2,13,3,3), {_TRUE}, .7, 32",
        (
            f"f(1,14,3,3), ({_BOX.format(1)})[:, :, :3], const([[0,1,1]],'int32'), "
            "[10,13,16,30,53,43], [1,2], 2, .7, 32"
        ),
        f"f(1,14,3,3), {_BOX.format(1)}, const([[0,1,1]],'int32'), [10,13,16,30,53,43], [1,5], 2, .7, 32",
        (
            f"d(1,7,4,4), ({_BOX.format(1)} * const([[1],[0],[1]])).astype('float64'), "
            f"const([[0,1,1]],'int32'), "
            "[40,45], [0], 2, .5, 16"
        ),
    ],
)
def yolo_loss(
    x: jax.Array,
    gt_box: jax.Array,
    gt_label: jax.Array,
    anchors: Sequence[int],
    anchor_mask: Sequence[int],
    class_num: int,
    ignore_thresh: float,
    downsample_ratio: int,
    gt_score: jax.Array | None = None,
    use_label_smooth: bool = True,
    name: str | None = None,
    scale_x_y: float = 1.0,
) -> jax.Array:
    """The loss of YOLOv3 for one feature map: places, sizes, confidence and classes.

    Each true box belongs to the anchor of the most similar shape, in the cell of its centre. A predicted box
    without a true one whose overlap with some true box is above ignore_thresh does not count
    in the confidence.

    Args:
        x: Tensor [N, A (5 + class_num), H, H], A the length of anchor_mask.
        gt_box: Tensor [N, B, 4] of (x, y, w, h), centre and size in parts of the image; boxes of size 0 do
            not count. No gradient flows to it.
        gt_label: int32 Tensor [N, B], classes.
        anchors: list of widths and heights of all anchors, in pixels of the network's input.
        anchor_mask: list, numbers of this feature map's anchors.
        class_num: int.
        ignore_thresh: float.
        downsample_ratio: int, the network's input size by that of x.
        gt_score: Tensor [N, B], weights of the true boxes. Default: 1.
        use_label_smooth: bool, take 1 / max(class_num, 40) from a true class and give it to the
            others. Default True.
        scale_x_y: float, stretches the places in a cell. Default 1.0.
    Returns:
        Tensor [N].
    Raises:
        ValueError: shapes do not fit.
    Example:
        >>> box, label = paddle.to_tensor([[[0.5, 0.5, 0.5, 0.25]]]), paddle.zeros([1, 1], "int32")
        >>> paddle.vision.ops.yolo_loss(paddle.zeros([1, 6, 1, 1]), box, label, [16, 8], [0], 1, 0.7,
        ...                             32).shape
        paddle.Size([1])
    See:
        Redmon and Farhadi, YOLOv3, arXiv 1804.02767.
    """
    chosen = _anchors("yolo_loss", x, anchors, anchor_mask, 5 + class_num)
    if x.shape[2] != x.shape[3] or gt_box.ndim != 3 or gt_box.shape[2] != 4:
        raise ValueError(
            f"(InvalidArgument) yolo_loss: got x {list(x.shape)} and gt_box "
            f"{list(gt_box.shape)}; they must be [N, C, H, H], [N, B, 4]"
        )
    n = x.shape[0]
    cells = x.shape[2]
    count = len(chosen)
    side = downsample_ratio * cells
    boxes = lax.stop_gradient(gt_box).astype(x.dtype)
    maps = x.reshape(n, count, 5 + class_num, cells, cells)
    pairs = np.asarray(anchors, np.float64).reshape(-1, 2)
    valid, anchor, column, row, shapes = _targets(boxes, tuple(anchor_mask), pairs, side, cells)
    if gt_score is None:
        score = jnp.ones(boxes.shape[:2], x.dtype)
    else:
        score = lax.stop_gradient(gt_score).astype(x.dtype)
    owned = anchor >= 0
    image = jnp.arange(n)[:, None]
    # A box without an anchor writes nothing; any valid index will do.
    where = (image, jnp.maximum(anchor, 0), row, column)
    # A box that overlaps some truth well is not punished.
    ignored = _overlaps(x, maps, boxes, valid, chosen / side, scale_x_y).max(1, initial=0) > ignore_thresh
    # From 1 on, as 0 says that a cell has no box.
    numbers = jnp.where(owned, jnp.arange(1, boxes.shape[1] + 1), 0)
    # of several boxes in one place the last one counts
    last = jnp.zeros((n, count, cells, cells), numbers.dtype).at[where].max(numbers)
    wanted = jnp.where(last > 0, score[image[..., None, None], jnp.maximum(last - 1, 0)], 0)
    confidence = _confidence(maps[:, :, 4], wanted, ignored & (last == 0))

    # place, size and classes of the true boxes
    found = maps[where[0], where[1], :, where[2], where[3]]  # [N, B, 5 + classes]
    # Within its cell, from 0 to 1: what the sigmoid of the network has to give.
    place = boxes[..., :2] * cells - jnp.stack([column, row], -1)
    size = jnp.log(jnp.where(owned[..., None], boxes[..., 2:] / shapes, 1))
    # Small boxes count more, as in Darknet.
    weight = (2 - boxes[..., 2:].prod(-1)) * score
    moved = (_entropy(found[..., :2], place) + jnp.abs(found[..., 2:4] - size)).sum(-1) * weight
    # The share of the other classes.
    smooth = min(1 / class_num, 1 / 40) if use_label_smooth else 0
    labels = jnp.where(gt_label[..., None] == jnp.arange(class_num), 1 - smooth, smooth).astype(x.dtype)
    kinds = _entropy(found[..., 5:], labels).sum(-1) * score
    return confidence.sum((1, 2, 3)) + jnp.where(owned, moved + kinds, 0).sum(1)


__all__ = ["yolo_box", "yolo_loss"]
