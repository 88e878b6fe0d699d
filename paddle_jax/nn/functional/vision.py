"""Rearranging channels and sampling images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.size import index_range, is_symbolic
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import op

if TYPE_CHECKING:
    import jax


def _image(op_name: str, x: Any, data_format: str, formats: Sequence[str] = ("NCHW", "NHWC")) -> bool:
    """Whether channels are last; raises unless x is a batch of images in a known format."""
    if data_format not in formats:
        raise ValueError(f"{op_name}: data_format: got {data_format!r}; allowed are {' and '.join(formats)}")
    if x.ndim != 4:
        raise ValueError(f"{op_name}: x: got shape {list(x.shape)}; it must have 4 axes")
    # Channels last decides all that follows.
    return data_format == "NHWC"


def _positive(op_name: str, what: str, value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{op_name}: {what}: got {type(value).__name__}; it must be an int")
    if value <= 0:
        raise ValueError(f"{op_name}: {what}: got {value}; it must be positive")
    return value


@known_as(
    pir="pixel_shuffle upscale_factor:i32 data_format:str='NCHW'",
    onnx="DepthToSpace(x, blocksize=upscale_factor, mode='CRD')",
)
@op(
    method=False,
    cases=[
        "f(1,4,2,2), 2",
        "f(1,2,3,8), 2, 'NHWC'",
        "f(1,3,2,2), 2",
        "f(4,2,2), 2",
        "f(1,4,2,2), 'a'",
        "f(1,4,2,2), 2, 'X'",
        "d(2,9,1,2), 3",
        "f(0,4,2,2), 2",
    ],
)
def pixel_shuffle(
    x: jax.Array, upscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> jax.Array:
    """Turns groups of r * r channels into r times larger images.

    Args:
        x: Tensor [N, C r r, H, W], or [N, H, W, C r r] with data_format "NHWC".
        upscale_factor: int r.
        data_format: "NCHW" or "NHWC".
    Returns:
        Tensor [N, C, H r, W r] or [N, H r, W r, C].
    Raises:
        TypeError: upscale_factor is not an int.
        ValueError: the channels are not a multiple of r * r.
    Example:
        >>> paddle.nn.functional.pixel_shuffle(paddle.to_tensor([[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]]),
        ...                                    2)[0, 0].tolist()
        [[1.0, 2.0], [3.0, 4.0]]

    See: Shi et al., Real-Time Single Image and Video Super-Resolution, 2016.
    """
    r = _positive("pixel_shuffle", "upscale_factor", upscale_factor)
    last = _image("pixel_shuffle", x, data_format)
    channels = x.shape[-1] if last else x.shape[1]
    if channels % (r * r):
        raise ValueError(f"pixel_shuffle: x: got {channels} channels; they must be a multiple of {r * r}")
    c = channels // (r * r)
    if last:
        n, h, w, _ = x.shape
        # (c, r, r): Paddle's order of sub-pixels within the channels.
        return x.reshape(n, h, w, c, r, r).transpose(0, 1, 4, 2, 5, 3).reshape(n, h * r, w * r, c)
    n, _, h, w = x.shape
    return x.reshape(n, c, r, r, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c, h * r, w * r)


@known_as(pir="pixel_unshuffle downscale_factor:i32 data_format:str='NCHW'")
@op(
    method=False,
    cases=[
        "f(1,1,4,4), 2",
        "f(1,4,4,2), 2, 'NHWC'",
        "f(1,1,3,4), 2",
        "f(1,3,4), 2",
        "f(1,1,4,4), -1",
        "f(1,1,4,4), 2.0",
        "d(2,1,3,6), 3",
        "f(1,1,4,4), 2, 'X'",
    ],
)
def pixel_unshuffle(
    x: jax.Array, downscale_factor: int, data_format: str = "NCHW", name: str | None = None
) -> jax.Array:
    """The inverse of `pixel_shuffle`: turns blocks of r * r pixels into channels.

    Args:
        x: Tensor [N, C, H r, W r] or [N, H r, W r, C].
        downscale_factor: int r.
        data_format: "NCHW" or "NHWC".
    Returns:
        Tensor [N, C r r, H, W] or [N, H, W, C r r].
    Raises:
        ValueError: height or width is not a multiple of r.
    Example:
        >>> paddle.nn.functional.pixel_unshuffle(paddle.ones([1, 1, 2, 2]), 2).shape
        paddle.Size([1, 4, 1, 1])
    """
    r = _positive("pixel_unshuffle", "downscale_factor", downscale_factor)
    last = _image("pixel_unshuffle", x, data_format)
    h, w = x.shape[1:3] if last else x.shape[2:]
    if h % r or w % r:
        raise ValueError(
            f"(InvalidArgument) pixel_unshuffle: x: got height {h} and width {w}; "
            f"they must be multiples of {r}"
        )
    if last:
        n, _, _, c = x.shape
        return (
            x.reshape(n, h // r, r, w // r, r, c)
            .transpose(0, 1, 3, 5, 2, 4)
            .reshape(n, h // r, w // r, c * r * r)
        )
    n, c = x.shape[:2]
    return (
        x.reshape(n, c, h // r, r, w // r, r)
        .transpose(0, 1, 3, 5, 2, 4)
        .reshape(n, c * r * r, h // r, w // r)
    )


@known_as(pir="channel_shuffle groups:i32=1 data_format:str='NCHW'")
@op(
    method=False,
    cases=[
        "f(1,4,2,1), 2",
        "f(1,2,1,4), 2, 'NHWC'",
        "f(1,4,2,1), 3",
        "f(4,2,1), 2",
        "f(1,4,2,1), 2.0",
        "f(1,4,2,1), -2",
        "d(2,6,1,1), 3",
    ],
)
def channel_shuffle(
    x: jax.Array, groups: int, data_format: str = "NCHW", name: str | None = None
) -> jax.Array:
    """Cuts the channels into groups and interleaves them.

    Args:
        x: Tensor [N, C, H, W] or [N, H, W, C].
        groups: int that divides C.
        data_format: "NCHW" or "NHWC".
    Returns:
        Tensor of the same shape and dtype.
    Raises:
        ValueError: groups does not divide the channels.
    Example:
        >>> x = paddle.arange(4).reshape([1, 4, 1, 1])
        >>> paddle.nn.functional.channel_shuffle(x, 2).flatten().tolist()
        [0, 2, 1, 3]

    See: Zhang et al., ShuffleNet, 2017.
    """
    g = _positive("channel_shuffle", "groups", groups)
    last = _image("channel_shuffle", x, data_format)
    channels = x.shape[-1] if last else x.shape[1]
    if channels % g:
        raise ValueError(
            f"(InvalidArgument) channel_shuffle: groups: got {g}; it must divide the {channels} channels"
        )
    if last:
        # A transposed pair of axes interleaves the groups.
        return x.reshape(*x.shape[:3], g, channels // g).swapaxes(3, 4).reshape(x.shape)
    return x.reshape(x.shape[0], g, channels // g, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)


def _steps(n: int, align_corners: bool) -> np.ndarray:
    """Centres of n cells on [-1, 1], or n points from -1 to 1. A single point lies at 0."""
    if align_corners:
        if n > 1:
            return np.linspace(-1, 1, n)
        return np.zeros(1)
    # Cells have their centres half a cell from the ends.
    return (np.arange(n) * 2 + 1) / n - 1


def _open_steps(n: Any, align_corners: bool) -> jax.Array:
    """As `_steps`, where JAX traces for every n."""
    number = jnp.asarray(n).astype(jnp.float64)
    places = index_range(n).astype(jnp.float64)
    if align_corners:
        return jnp.where(number > 1, places * 2 / jnp.maximum(number - 1, 1) - 1, 0)
    return (places * 2 + 1) / number - 1


@known_as(pir="affine_grid(theta,out_shape:ints) align_corners:bool=True")
@op(
    "theta",
    method=False,
    cases=[
        "f(1,2,3), [1,1,2,3]",
        "f(1,2,3), [1,1,2,3], False",
        "f(1,3,4), [1,1,2,2,2]",
        "d(2,3,4), [2,1,2,3,4], False",
        "f(2,3), [1,1,2,2]",
        "f(1,2,3), const([1,1,2,3],'int32')",
        "f(2,2,3), [2,3,4,4]",
    ],
)
def affine_grid(
    theta: jax.Array, out_shape: Any, align_corners: bool = True, name: str | None = None
) -> jax.Array:
    """Sampling positions of an affine map, for `grid_sample`.

    Args:
        theta: Tensor [N, 2, 3] for images or [N, 3, 4] for volumes.
        out_shape: [N, C, H, W] or [N, C, D, H, W] of the result of the sampling.
        align_corners: -1 and 1 are the centres of the corner pixels, not their outer edges.
    Returns:
        Tensor [N, H, W, 2] or [N, D, H, W, 3] with (x, y) or (x, y, z) on the last axis.
    Raises:
        ValueError: theta and out_shape do not fit.
    Example:
        >>> theta = paddle.to_tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> paddle.nn.functional.affine_grid(theta, [1, 1, 2, 2])[0, 0].tolist()
        [[-1.0, -1.0], [1.0, -1.0]]

    See: Jaderberg et al., Spatial Transformer Networks, 2015.
    """
    n = len(out_shape) - 2
    if n not in (2, 3) or theta.ndim != 3 or theta.shape[1:] != (n, n + 1):
        raise ValueError(
            f"affine_grid: theta: got shape {list(theta.shape)} for out_shape "
            f"{list(out_shape)}; use [N, 2, 3] with 4 and [N, 3, 4] with 5 lengths"
        )
    # The last coordinate is 1, for the translation; x is the first of theta's columns.
    if any(map(is_symbolic, out_shape[2:])):
        open_axes = jnp.meshgrid(*[_open_steps(s, align_corners) for s in out_shape[2:]], indexing="ij")
        points = jnp.stack([*open_axes[::-1], jnp.ones_like(open_axes[0])], -1).astype(theta.dtype)
    else:
        axes = np.meshgrid(*[_steps(s, align_corners) for s in out_shape[2:]], indexing="ij")
        points = jnp.asarray(np.stack([*axes[::-1], np.ones_like(axes[0])], -1), theta.dtype)
    return jnp.einsum("...k,njk->n...j", points, theta)


def _reflected(at: Any, low: float, high: float) -> jax.Array:
    """Positions mirrored at low and high until they lie between."""
    # One pixel: nothing to mirror between.
    if high <= low:
        return jnp.zeros_like(at) + low
    # The mirrored pattern repeats after twice the distance.
    span = 2 * (high - low)
    rest = jnp.mod(jnp.abs(at - low), span)
    return jnp.where(rest > high - low, span - rest, rest) + low


def _pixel(at: Any, size: int, padding_mode: str, align_corners: bool) -> jax.Array:
    """From [-1, 1] to pixel numbers, outside ones handled by padding_mode."""
    if align_corners:
        at = (at + 1) / 2 * (size - 1)
    else:
        # Pixels are squares: -1 is the left edge of the first one.
        at = ((at + 1) * size - 1) / 2
    if padding_mode == "reflection":
        if align_corners:
            at = _reflected(at, 0, size - 1)
        else:
            # Without aligned corners the image is mirrored at the edges of its pixels.
            at = _reflected(at, -0.5, size - 0.5)
    if padding_mode != "zeros":
        # Selects, as `jnp.clip` shares the gradient at the bounds.
        at = jnp.where(at <= 0, 0, jnp.where(at >= size - 1, size - 1, at))
    return at


def _fetch(x: jax.Array, corner: Any) -> jax.Array:
    """x at integer positions (one array per spatial axis), 0 outside."""
    sizes = x.shape[2:]
    inside = math.prod(
        [(c >= 0) & (c < s) for c, s in zip(corner, sizes, strict=True)], start=jnp.ones((), bool)
    )
    flat = 0
    for c, s in zip(corner, sizes, strict=True):
        # Clipped, since a gather must not read outside; the mask below puts zeros there.
        flat = flat * s + jnp.clip(c, 0, s - 1)
    rows = x.reshape(*x.shape[:2], math.prod(sizes))
    found = jnp.take_along_axis(rows, flat.reshape(x.shape[0], 1, math.prod(flat.shape[1:])), 2).reshape(
        *x.shape[:2], *flat.shape[1:]
    )
    # Zeros outside, as padding_mode "zeros" wants; others have no place outside.
    return jnp.where(inside[:, None], found, 0)


@known_as(
    pir="grid_sample mode:str padding_mode:str align_corners:bool=False",
    onnx="GridSample mode padding_mode align_corners",
)
@op(
    "x grid",
    alias={"input": "x"},
    same_dtype=True,
    out="unlisted",
    method=False,
    cases=[
        "f(1,2,3,4), u(-1.5,1.5,1,2,2,2)",
        "f(1,2,3,4), u(-1.5,1.5,1,2,2,2), mode='nearest'",
        "f(1,2,3,4), u(-1.5,1.5,1,2,2,2), mode='nearest', align_corners=False",
        "f(1,2,3,4), u(-1.5,1.5,1,2,3,2), padding_mode='border'",
        "f(1,2,3,4), u(-2.5,2.5,1,2,3,2), padding_mode='reflection'",
        "f(1,2,3,4), u(-2.5,2.5,1,2,3,2), padding_mode='reflection', align_corners=False",
        "d(2,1,3,3), ud(-1.5,1.5,2,2,2,2), align_corners=False",
        "f(1,2,3,4,3), u(-1.5,1.5,1,2,2,2,3)",
        "f(1,2,3,4,3), u(-1.5,1.5,1,2,2,2,3), mode='nearest', padding_mode='border'",
        "f(1,2,3,4,3), u(-2.5,2.5,1,2,2,2,3), padding_mode='reflection', align_corners=False",
        "f(1,1,3,3), u(-1.5,1.5,1,2,2,2), mode='x'",
        "f(1,1,3,3), u(-1.5,1.5,1,2,2,2), padding_mode='x'",
        "f(1,1,3,3), u(-1.5,1.5,2,2,2,2)",
        "f(1,1,3,3), u(-1.5,1.5,1,2,2,3)",
    ],
)
def grid_sample(
    x: jax.Array,
    grid: jax.Array,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> jax.Array:
    """Samples images or volumes at given positions.

    Args:
        x: Tensor [N, C, H, W] or [N, C, D, H, W]. `input` is accepted as a name.
        grid: Tensor [N, H', W', 2] of (x, y), or [N, D', H', W', 3] of (x, y, z); -1 and 1 are the borders.
        mode: "bilinear" or "nearest".
        padding_mode: what lies outside: "zeros", "border" (the nearest pixel) or "reflection".
        align_corners: -1 and 1 are the centres of the corner pixels, not their outer edges.
    Returns:
        Tensor [N, C, H', W'] or [N, C, D', H', W'].
    Raises:
        ValueError: shapes or modes do not fit.
        TypeError: align_corners is not a bool.
    Example:
        >>> x = paddle.to_tensor([[[[1.0, 3.0]]]])
        >>> paddle.nn.functional.grid_sample(x, paddle.to_tensor([[[[0.0, 0.0]]]])).item()
        2.0
    """
    n = x.ndim - 2
    if mode not in ("bilinear", "nearest") or padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            f"grid_sample: got mode {mode!r} and padding_mode {padding_mode!r}; "
            "modes are bilinear and nearest, paddings zeros, border and reflection"
        )
    if not isinstance(align_corners, bool):
        raise TypeError(f"grid_sample: align_corners: got {align_corners!r}; it must be a bool")
    if n not in (2, 3) or grid.ndim != x.ndim or grid.shape[0] != x.shape[0] or grid.shape[-1] != n:
        raise ValueError(
            f"grid_sample: grid: got shape {list(grid.shape)} for x of shape {list(x.shape)}; "
            "it must be [N, H, W, 2] or [N, D, H, W, 3]"
        )
    # Paddle's grid has x first, arrays have it last.
    at = [_pixel(grid[..., n - 1 - a], x.shape[2 + a], padding_mode, align_corners) for a in range(n)]
    if mode == "nearest":
        # Halves go to the even pixel.
        return _fetch(x, [jnp.round(a).astype(jnp.int32) for a in at])
    low = [jnp.floor(a) for a in at]
    total: Any = 0
    for bits in np.ndindex(*[2] * n):
        corner = [w + b for w, b in zip(low, bits, strict=True)]
        # The weight of a corner is the volume of the opposite part of its cell.
        weight = math.prod(1 - (a - w) if b == 0 else a - w for a, w, b in zip(at, low, bits, strict=True))
        total = total + _fetch(x, [c.astype(jnp.int32) for c in corner]) * weight[:, None]
    return total
