"""Pooling of regions of a feature map.

Each of the three poolings is separable: along the height and along the width it has its own weights or cells.
Regions are worked on in groups, so that the memory in between is bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax import nn
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.kernels.value_checks import add_check, traced_value
from paddle_jax._core.ops.op import op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.axes import concrete, guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import jax

    from paddle_jax._annotations import Size

_ELEMENTS = 1 << 24  # numbers in between, at most, for one group of regions


def _pair(op_name: str, size: Size) -> tuple[int, ...]:
    if not isinstance(size, int | tuple | list):
        raise TypeError(f"{op_name}: output_size: got {size!r}; it must be an int or a pair of ints")
    if isinstance(size, int):
        return (size, size)
    return tuple(size)


def _check(op_name: str, x: jax.Array, boxes: jax.Array, boxes_num: jax.Array) -> None:
    if x.ndim != 4:
        raise ValueError(
            f"(InvalidArgument) {op_name}: x: got shape {list(x.shape)}; it must be [N, C, H, W]"
        )
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(
            f"(InvalidArgument) {op_name}: boxes: got shape {list(boxes.shape)}; it must be [regions, 4]"
        )
    if boxes_num.ndim != 1 or boxes_num.shape[0] != x.shape[0]:
        raise ValueError(
            f"(InvalidArgument) {op_name}: boxes_num: got shape {list(boxes_num.shape)}; "
            f"it must be [{x.shape[0]}], one per image"
        )


def _guard(name: str, exact: bool = False) -> Any:
    """A check of each call of an op: the counts of boxes are not negative, and no box is left over.
    exact: they add up to the boxes."""

    def refusal(least: Any, most: Any, count: Any) -> ValueError:
        return ValueError(
            f"(InvalidArgument) {name}: boxes_num: got counts that add up to {most}, before "
            f"to {least}; there are {count} boxes, and no count may be negative"
        )

    def check(x: Tensor, boxes: Tensor, boxes_num: Tensor, *_: Any, **__: Any) -> None:
        if not isinstance(boxes_num, Tensor) or boxes_num.ndim != 1 or 0 in boxes_num.shape:
            return  # the op refuses these
        count, value = boxes.shape[0], traced_value(boxes_num)
        if value is not None:
            ends = jnp.cumsum(value)
            # As counts are not negative, the sums never fall.
            wrong = (ends.min() < 0) | (ends[-1] < count) | (exact and ends[-1] > count)
            add_check(wrong, (ends.min(), ends[-1]), lambda least, most: refusal(least, most, count))
        elif (known := concrete(boxes_num)) is not None:
            ends = np.cumsum(known)
            if ends.min() < 0 or ends[-1] < count or (exact and ends[-1] > count):
                raise refusal(ends.min(), ends[-1], count)

    return guarded(check)


def _image_of(boxes_num: jax.Array, count: int) -> jax.Array:
    """The image of each region: the first boxes_num[0] belong to image 0, and so on."""
    ends = jnp.cumsum(boxes_num)
    # Boxes behind the last count belong to the last image.
    return jnp.minimum(jnp.searchsorted(ends, jnp.arange(count), side="right"), boxes_num.shape[0] - 1)


def _each(
    x: jax.Array,
    boxes: jax.Array,
    boxes_num: jax.Array,
    pooled: Callable[..., jax.Array],
    work: Sequence[int],
) -> jax.Array:
    """pooled(number of the image, box) for every region, stacked."""
    if boxes.shape[0] == 0:
        return jnp.zeros((0, *work), x.dtype)
    # Groups bound the memory, as each region sees its whole image.
    group = max(1, _ELEMENTS // max(1, x[0].size))
    images = _image_of(boxes_num, boxes.shape[0])
    return lax.map(lambda pair: pooled(*pair), (images, boxes), batch_size=min(group, boxes.shape[0]))


def _line(start: jax.Array, length: jax.Array, bins: int, size: int, samples: int) -> jax.Array:
    """[bins, size]: the weights with which the pixels of a line enter the mean over sampling points of each
    bin, read by linear interpolation."""
    step = length / bins
    if samples <= 0:
        # Paddle takes as many samples as pixels in the bin.
        count = jnp.ceil(step).astype(jnp.int32)
    else:
        count = jnp.int32(samples)
    pixels = jnp.arange(size)

    def add(i: jax.Array, weights: jax.Array) -> jax.Array:
        # The samples are in the middle of equal parts of a bin.
        at = (
            start
            + jnp.arange(bins).astype(step.dtype) * step
            + (i + 0.5).astype(step.dtype) * step / count.astype(step.dtype)
        )
        # Samples more than a pixel outside count as 0.
        inside = (at >= -1) & (at <= size)
        at = jnp.clip(at, 0, size - 1)
        # Bilinear weights along one axis; both axes are separate.
        near = jnp.maximum(0, 1 - jnp.abs(at[:, None] - pixels))
        return weights + jnp.where(inside[:, None], near, 0)

    weights = lax.fori_loop(0, count, add, jnp.zeros((bins, size), start.dtype))
    return weights / jnp.maximum(count, 1).astype(start.dtype)


_BOXES = "const([[5,10,62,71],[20,3,90,45],[12,15,51,87]]) * 0.1, const([2,1],'int32')"
_LARGE = "const([[-2,-3,16,15],[3,3,5,4],[5,5,7,12]]) * 1.0, const([1,2],'int32')"
_MORE = "const([[-2,-3,16,15],[3,3,3,3],[5,5,2,2]]) * 1.0, const([1,2],'int32')"


@_guard("roi_align")
@known_as(code="detection:roi_align")
@op(
    "x boxes boxes_num",
    method=False,
    constant="boxes",
    cases=[
        f"f(2,3,8,9), {_BOXES}, 2",
        f"f(2,3,8,9), {_BOXES}, (2,3), 0.5",
        f"f(2,3,8,9), {_BOXES}, 2, 1.0, 2",
        f"f(2,2,8,9), {_MORE}, 3, 0.7, 2, False",
        f"f(2,2,8,9), {_LARGE}, 2",
        f"f(2,2,8,9), {_MORE}, 2, aligned=False",
        "f(1,2,8,9), f(0,4).detach(), const([0],'int32'), 2",
        f"f(2,8,9), {_BOXES}, 2",
        "f(1,2,4,4), f(2,3).detach(), const([2],'int32'), 2",
        "f(1,2,4,4), f(2,4).detach(), const([1,1],'int32'), 2",
        "d(1,2,5,5), const([[0,1,3,4]]).astype('float64'), const([1],'int32'), 2",
    ],
)
def roi_align(
    x: jax.Array,
    boxes: jax.Array,
    boxes_num: jax.Array,
    output_size: Size,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = True,
    name: str | None = None,
) -> jax.Array:
    """The mean of points, read by bilinear interpolation, over the bins of each region.

    Args:
        x: Tensor [N, C, H, W], float32 or float64.
        boxes: Tensor [R, 4] of (x1, y1, x2, y2), those of the first image first. No gradient flows to them.
        boxes_num: int32 Tensor [N], how many of the boxes belong to each image.
        output_size: int or (h, w), bins.
        spatial_scale: float, from coordinates of boxes to pixels of x. Default 1.0.
        sampling_ratio: int, points of a bin along each axis; 0 or less for one per pixel. Default -1.
        aligned: bool, pixel centres are at .5 (half a pixel is subtracted); otherwise boxes are at least one
            pixel wide and high. Default True.
    Returns:
        Tensor [R, C, h, w].
    Raises:
        ValueError: shapes do not fit.
    Example:
        >>> x, box, count = (paddle.ones([1, 1, 4, 4]), paddle.to_tensor([[0.0, 0.0, 3.0, 3.0]]),
        ...                  paddle.to_tensor([1], "int32"))
        >>> paddle.vision.ops.roi_align(x, box, count, 2).tolist()
        [[[[1.0, 1.0], [1.0, 1.0]]]]
    See:
        He et al., Mask R-CNN, arXiv 1703.06870.
    """
    _check("roi_align", x, boxes, boxes_num)
    bins, (height, width), shift = _pair("roi_align", output_size), x.shape[2:], 0.5 if aligned else 0.0

    def pooled(image: jax.Array, box: jax.Array) -> jax.Array:
        left, top, right, bottom = box * jnp.asarray(spatial_scale, box.dtype) - jnp.asarray(shift, box.dtype)
        w = right - left
        h = bottom - top
        # The old form has regions of at least one pixel.
        if not aligned:
            w = jnp.maximum(w, 1)
            h = jnp.maximum(h, 1)
        rows = _line(top, h, bins[0], height, sampling_ratio).astype(x.dtype)
        columns = _line(left, w, bins[1], width, sampling_ratio).astype(x.dtype)
        # One product for both axes of samples.
        return jnp.einsum("ih,chw,jw->cij", rows, x[image], columns, precision="highest")

    return _each(x, boxes, boxes_num, pooled, (x.shape[1], *bins))


def _bounds(start: jax.Array, step: jax.Array, bins: int, size: int) -> tuple[jax.Array, jax.Array]:
    """First and last + 1 pixel of each bin, rounded and within the line."""
    first = jnp.clip(jnp.floor(jnp.arange(bins) * step) + start, 0, size)
    last = jnp.clip(jnp.ceil(jnp.arange(1, bins + 1) * step) + start, 0, size)
    return first.astype(jnp.int32), last.astype(jnp.int32)


def _within(first: jax.Array, last: jax.Array, size: int) -> jax.Array:
    """[bins, size]: whether a pixel lies in a bin."""
    return (jnp.arange(size) >= first[:, None]) & (jnp.arange(size) < last[:, None])


def _windows(x: jax.Array) -> jax.Array:
    """[K, N, H, W, C]: the largest of 1, 2, 4 ... rows from each row on; two of them cover
    any run of rows."""
    level = lax.stop_gradient(x).transpose(0, 2, 3, 1)
    width = 1
    levels = [level]
    # Maxima of 1, 2, 4, ... lines, so that any range is two of them.
    while 2 * width <= x.shape[2]:
        # Beyond the end the last line repeats, which changes no maximum.
        later = jnp.concatenate([level[:, width:], jnp.repeat(level[:, -1:], width, 1)], 1)
        level = jnp.maximum(level, later)
        width = 2 * width
        levels.append(level)
    return jnp.stack(levels)


def _first(found: jax.Array, axis: int) -> jax.Array:
    """The first True along an axis, or the last place."""
    places = lax.broadcasted_iota(jnp.int32, found.shape, axis)
    return jnp.where(found, places, found.shape[axis] - 1).min(axis)


def _largest(
    windows: jax.Array,
    image: jax.Array,
    rows: tuple[jax.Array, jax.Array],
    columns: tuple[jax.Array, jax.Array],
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """[bins, bins, C]: row and column of the largest pixel of each bin, and whether the bin has any."""
    (top, end), (left, right), width = rows, columns, windows.shape[3]
    # The largest power of 2 within the range.
    level = 31 - lax.clz(jnp.maximum(end - top, 1))
    # [bins, W, C]
    # Two ranges of that length cover it, and may overlap.
    lines = jnp.maximum(windows[level, image, top], windows[level, image, jnp.maximum(end - (1 << level), 0)])

    def best(inside: jax.Array) -> tuple[jax.Array, jax.Array]:
        # Pixels outside of the bin can never be the largest.
        shown = jnp.where(inside[:, None], lines, -jnp.inf)
        value = shown.max(1)
        return value, _first(shown == value[:, None], 1)

    value, column = (v.swapaxes(0, 1) for v in lax.map(best, _within(left, right, width)))  # [bins, bins, C]
    # Where in its column the largest value lies.
    found = windows[0, image][:, column, jnp.arange(value.shape[2])] == value  # [H, bins, bins, C]
    row = _first(found & _within(top, end, found.shape[0]).T[:, :, None, None], 0)
    return row, column, (end > top)[:, None, None] & (right > left)[None, :, None]


@_guard("roi_pool")
@known_as(code="detection:roi_pool")
@op(
    "x boxes boxes_num",
    method=False,
    constant="boxes",
    cases=[
        f"f(2,3,8,9), {_BOXES}, 2",
        f"f(2,3,8,9), {_BOXES}, (2,3), 0.5",
        f"f(2,2,8,9), {_MORE}, 3",
        f"f(2,2,8,9), {_MORE}, 2, 0.7",
        "f(1,2,8,9), f(0,4).detach(), const([0],'int32'), 2",
        f"f(2,8,9), {_BOXES}, 2",
        "f(1,2,4,4), f(2,3).detach(), const([2],'int32'), 2",
        "d(1,2,5,5), const([[0,1,3,4]]).astype('float64'), const([1],'int32'), 2",
    ],
)
def roi_pool(
    x: jax.Array,
    boxes: jax.Array,
    boxes_num: jax.Array,
    output_size: Size,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> jax.Array:
    """The largest pixel in the bins of each region.

    Args:
        x: Tensor [N, C, H, W], float32 or float64.
        boxes: Tensor [R, 4] of (x1, y1, x2, y2), those of the first image first. No gradient flows to them.
        boxes_num: int32 Tensor [N], how many of the boxes belong to each image.
        output_size: int or (h, w), bins.
        spatial_scale: float, from coordinates of boxes to pixels of x. Default 1.0.
    Returns:
        Tensor [R, C, h, w]; 0 where a bin has no pixel.
    Raises:
        ValueError: shapes do not fit.
    Example:
        >>> x, box, count = (paddle.arange(16.0).reshape([1, 1, 4, 4]),
        ...                  paddle.to_tensor([[0.0, 0.0, 3.0, 3.0]]), paddle.to_tensor([1], "int32"))
        >>> paddle.vision.ops.roi_pool(x, box, count, 2).tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]
    See:
        Girshick, Fast R-CNN, arXiv 1504.08083.
    """
    _check("roi_pool", x, boxes, boxes_num)
    bins, (height, width) = _pair("roi_pool", output_size), x.shape[2:]

    windows, channels = _windows(x), jnp.arange(x.shape[1])

    def pooled(image: jax.Array, box: jax.Array) -> jax.Array:
        scaled = box * jnp.asarray(spatial_scale, box.dtype)
        # Halves are rounded away from zero, as in C.
        left, top, right, bottom = jnp.trunc(scaled + jnp.where(scaled < 0, -0.5, 0.5).astype(box.dtype))
        rows = _bounds(top, jnp.maximum(bottom - top + 1, 1) / bins[0], bins[0], height)
        columns = _bounds(left, jnp.maximum(right - left + 1, 1) / bins[1], bins[1], width)
        row, column, filled = _largest(windows, image, rows, columns)
        return jnp.where(filled, x[image, channels, row, column], 0).transpose(2, 0, 1)

    return _each(x, boxes, boxes_num, pooled, (x.shape[1], *bins))


@_guard("psroi_pool", exact=True)
@known_as(code="detection:psroi_pool")
@op(
    "x boxes boxes_num",
    method=False,
    constant="boxes",
    cases=[
        (
            "f(2,8,8,9), const([[0.7,1,6.2,7.1],[2,0.3,9,4.6],[1.2,1.6,3.1,8.7]],'float32').detach(), "
            "const([2,1],'int32'), 2"
        ),
        f"f(2,12,8,9), {_BOXES}, (2,3), 0.5",
        f"f(2,18,8,9), {_MORE}, 3",
        f"f(2,8,8,9), {_MORE}, 2, 0.7",
        f"f(2,7,8,9), {_BOXES}, 2",
        f"f(2,8,9), {_BOXES}, 2",
        "d(1,8,5,5), const([[0,1,3,4]]).astype('float64'), const([1],'int32'), 2",
    ],
)
def psroi_pool(
    x: jax.Array,
    boxes: jax.Array,
    boxes_num: jax.Array,
    output_size: Size,
    spatial_scale: float = 1.0,
    name: str | None = None,
) -> jax.Array:
    """The mean over the bins of each region, every bin from channels of its own.

    Args:
        x: Tensor [N, C h w, H, W], float32 or float64.
        boxes: Tensor [R, 4] of (x1, y1, x2, y2), those of the first image first. No gradient flows to them.
        boxes_num: int32 Tensor [N], how many of the boxes belong to each image.
        output_size: int or (h, w), bins.
        spatial_scale: float, from coordinates of boxes to pixels of x. Default 1.0.
    Returns:
        Tensor [R, C, h, w]; 0 where a bin has no pixel.
    Raises:
        ValueError: shapes do not fit, or the channels are not a multiple of h * w.
    Example:
        >>> x, box, count = (paddle.arange(8.0).reshape([1, 8, 1, 1]),
        ...                  paddle.to_tensor([[0.0, 0.0, 1.0, 1.0]]), paddle.to_tensor([1], "int32"))
        >>> paddle.vision.ops.psroi_pool(x.expand([1, 8, 2, 2]), box, count, 2).tolist()
        [[[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]]
    See:
        Dai et al., R-FCN, arXiv 1605.06409.
    """
    if x.ndim != 4:
        raise AssertionError(f"psroi_pool: x: got shape {list(x.shape)}; it must be [N, C, H, W]")
    _check("psroi_pool", x, boxes, boxes_num)
    bins, (channels, height, width) = _pair("psroi_pool", output_size), x.shape[1:]
    if bins[0] * bins[1] == 0 or channels % (bins[0] * bins[1]):
        raise ValueError(
            f"(InvalidArgument) psroi_pool: x: got {channels} channels; "
            f"they must be a multiple of {bins[0]} * {bins[1]}"
        )

    def mean(start: jax.Array, length: jax.Array, count: int, size: int) -> jax.Array:
        step = length / count
        # A bin takes whole pixels, also those that it only touches.
        first = jnp.clip(jnp.floor(jnp.arange(count) * step + start), 0, size)
        last = jnp.clip(jnp.ceil(jnp.arange(1, count + 1) * step + start), 0, size)
        pixels = jnp.arange(size)
        inside = (pixels >= first[:, None]) & (pixels < last[:, None])
        # A bin without pixels has the mean 0.
        return inside / jnp.maximum(last - first, 1)[:, None]

    def pooled(image: jax.Array, box: jax.Array) -> jax.Array:
        # Rounded as in C, with halves away from zero.
        rounded = jnp.trunc(box + jnp.where(box < 0, -0.5, 0.5).astype(box.dtype))
        scale = jnp.asarray(spatial_scale, box.dtype)
        left = rounded[0] * scale
        top = rounded[1] * scale
        right = (rounded[2] + 1) * scale
        bottom = (rounded[3] + 1) * scale
        # Regions are at least this long, against a division by 0.
        rows = mean(top, jnp.maximum(bottom - top, 0.1), bins[0], height).astype(x.dtype)
        columns = mean(left, jnp.maximum(right - left, 0.1), bins[1], width).astype(x.dtype)
        return jnp.einsum(
            "ih,cijhw,jw->cij", rows, x[image].reshape(-1, *bins, height, width), columns, precision="highest"
        )

    return _each(x, boxes, boxes_num, pooled, (channels // (bins[0] * bins[1]), *bins))


class _Pool(nn.Layer):
    """What the three layers share: the number of bins and the scale."""

    def __init__(self, output_size: Size, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size = output_size
        self._spatial_scale = spatial_scale


class RoIAlign(_Pool):
    """`roi_align` as a layer.

    Args:
        output_size: int or (h, w), bins.
        spatial_scale: float, from coordinates of boxes to pixels. Default 1.0.
    Example:
        >>> layer, count = paddle.vision.ops.RoIAlign(2), paddle.to_tensor([1], "int32")
        >>> layer(paddle.ones([1, 3, 4, 4]), paddle.to_tensor([[0.0, 0.0, 3.0, 3.0]]), count).shape
        paddle.Size([1, 3, 2, 2])
    """

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor, aligned: bool = True) -> Tensor:
        """Tensor [R, C, h, w]: see `roi_align`."""
        return roi_align(x, boxes, boxes_num, self._output_size, self._spatial_scale, aligned=aligned)


class RoIPool(_Pool):
    """`roi_pool` as a layer.

    Args:
        output_size: int or (h, w), bins.
        spatial_scale: float, from coordinates of boxes to pixels. Default 1.0.
    Example:
        >>> layer, count = paddle.vision.ops.RoIPool(2), paddle.to_tensor([1], "int32")
        >>> layer(paddle.ones([1, 3, 4, 4]), paddle.to_tensor([[0.0, 0.0, 3.0, 3.0]]), count).shape
        paddle.Size([1, 3, 2, 2])
    """

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor:
        """Tensor [R, C, h, w]: see `roi_pool`."""
        return roi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)

    def extra_repr(self) -> str:
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


class PSRoIPool(_Pool):
    """`psroi_pool` as a layer.

    Args:
        output_size: int or (h, w), bins.
        spatial_scale: float, from coordinates of boxes to pixels. Default 1.0.
    Example:
        >>> layer, count = paddle.vision.ops.PSRoIPool(2), paddle.to_tensor([1], "int32")
        >>> layer(paddle.ones([1, 8, 4, 4]), paddle.to_tensor([[0.0, 0.0, 3.0, 3.0]]), count).shape
        paddle.Size([1, 2, 2, 2])
    """

    def forward(self, x: Tensor, boxes: Tensor, boxes_num: Tensor) -> Tensor:
        """Tensor [R, C, h, w]: see `psroi_pool`."""
        return psroi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)


__all__ = ["PSRoIPool", "RoIAlign", "RoIPool", "psroi_pool", "roi_align", "roi_pool"]
