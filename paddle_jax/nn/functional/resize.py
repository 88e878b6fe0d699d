"""Resizing of feature maps. Every mode is separable: each axis is a sum of a few weighted
taps of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.size import are_known, is_symbolic
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, freeze, op
from paddle_jax.nn.functional.adaptive_pooling import adaptive_mean
from paddle_jax.nn.functional.windows import FORMATS

if TYPE_CHECKING:
    import jax

    from paddle_jax._core.tensors.tensor import Tensor


_NDIM = {
    "linear": (3,),
    "bilinear": (4,),
    "bicubic": (4,),
    "trilinear": (5,),
    "nearest": (4, 5),
    "area": (3, 4, 5),
}
_DENSE = 64 * 64  # up to this matrix size a matrix product beats gathering, whose gradient is a scatter
_PERIODIC = 1024  # length up to which it is looked whether an enlargement has a pattern that repeats


def _source(out: Any, ratio: Any, half_pixel: bool, xp: Any) -> Any:
    """Where output positions lie on the input axis, in single precision as the rest of the
    world computes it."""
    place = xp.arange(out, dtype=np.float32)
    if half_pixel:
        return xp.float32(ratio) * (place + np.float32(0.5)) - np.float32(0.5)
    return xp.float32(ratio) * place


def _cubic(distance: Any, xp: Any = np) -> Any:
    """Keys' cubic convolution kernel with a = -0.75. xp: the module of its functions."""
    a = -0.75
    # Keys (1981): a piecewise cubic over the distance.
    d = xp.abs(distance)
    return xp.where(
        d <= 1, (a + 2) * d**3 - (a + 3) * d**2 + 1, xp.where(d < 2, a * (d**3 - 5 * d**2 + 8 * d - 4), 0.0)
    )


def _ratio(size: int, out: int, mode: str, align_corners: bool, scale: Any) -> float:
    """How far output positions lie apart on the input axis."""
    if align_corners:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    if out == 1 and mode in ("bilinear", "bicubic"):
        return 0.0  # one place lies at the beginning, not in the middle
    # A given scale counts as it is, though the length is rounded down.
    return 1 / scale if scale else size / out


def _open_ratio(size: Any, out: Any, mode: str, align_corners: bool, scale: Any) -> Any:
    """`_ratio` where JAX traces for every length: the comparison is part of the program."""
    is_one = jnp.asarray(out) == 1
    if align_corners:
        return jnp.where(is_one, 0.0, (size - 1) / jnp.maximum(out - 1, 1))
    ratio = jnp.asarray(1 / scale if scale else size / out, jnp.float32)
    if mode in ("bilinear", "bicubic"):
        return jnp.where(is_one, 0.0, ratio)
    return ratio


def _taps(
    size: Any, out: Any, mode: str, align_corners: bool, align_mode: int, ratio: Any, xp: Any = np
) -> tuple[Any, Any]:
    """For each output position the input positions it reads [out, taps] (not yet limited to the axis)
    and their weights. xp: the module of its functions."""
    if mode == "nearest":
        # With corners aligned Paddle rounds, else it cuts off.
        at = _source(out, ratio, False, xp) + np.float32(0.5 if align_corners else 0)
        return xp.minimum(xp.floor(at).astype(np.int64), size - 1)[:, None], xp.ones((out, 1))
    # align_mode 1 and aligned corners have pixels as points, else as squares.
    half_pixel = not align_corners and (mode == "bicubic" or align_mode == 0)
    at = _source(out, ratio, half_pixel, xp)
    if mode == "bicubic":
        first = xp.floor(at).astype(np.int64)
        # One position before, two after: the kernel reaches two positions to both sides.
        index = first[:, None] + xp.arange(-1, 3)
        return index, _cubic(at[:, None] - index, xp)
    # Half a pixel before the first one reads the first one.
    at = xp.maximum(at, 0)
    first = xp.minimum(xp.floor(at).astype(np.int64), size - 1)
    # The share of the right one of both neighbours.
    part = at - first
    return xp.stack([first, first + 1], 1), xp.stack([1 - part, part], 1)


def _apply_open(x: jax.Array, axis: int, index: jax.Array, weights: jax.Array) -> jax.Array:
    """One axis resized where JAX traces for every length: a sum over the few taps."""
    shape = [1] * x.ndim
    shape[axis] = index.shape[0]
    total = jnp.zeros([], x.dtype)
    for tap in range(index.shape[1]):
        values = jnp.take(x, jnp.clip(index[:, tap], 0, x.shape[axis] - 1), axis)
        total = total + values * weights[:, tap].astype(x.dtype).reshape(shape)
    return total


def _antialias_matrix(size: Any, out: int, mode: str, align_corners: bool, scale: Any) -> np.ndarray:
    """Row-normalised weights of a triangle or cubic filter that is as wide as an output
    pixel when shrinking."""
    # How many input pixels an output pixel stands for.
    if align_corners:
        ratio = (size - 1) / (out - 1) if out > 1 else 0.0
    elif scale:
        ratio = 1 / scale
    else:
        ratio = size / out
    # Reducing widens the filter, so that each input counts; enlarging leaves it as it is.
    stretch = max(ratio, 1.0)
    # The middle of each output pixel, on the input.
    centre = ratio * (np.arange(out) + 0.5)
    distance = (np.arange(size)[None] + 0.5 - centre[:, None]) / stretch
    if mode != "bicubic":
        weights = np.maximum(1 - np.abs(distance), 0)
    else:
        weights = _antialias_cubic(distance)
    # At the edges the filter is cut, so its weights are made to sum to 1.
    return weights / weights.sum(1, keepdims=True)


def _antialias_cubic(distance: np.ndarray) -> np.ndarray:
    # The filter of antialiased images has a = -0.5, the plain cubic -0.75.
    a = -0.5
    d = np.abs(distance)
    return np.where(
        d <= 1, (a + 2) * d**3 - (a + 3) * d**2 + 1, np.where(d < 2, a * (d**3 - 5 * d**2 + 8 * d - 4), 0.0)
    )


def _apply(x: jax.Array, axis: int, index: np.ndarray, weights: Any) -> Any:
    """Sums weighted taps along one axis by the cheapest of three equal ways."""
    size = x.shape[axis]
    out = index.shape[0]
    # Far outside all positions read the edge; this bounds the padding below.
    index = np.clip(index, -size, 2 * size)
    # A whole factor: the pattern of taps repeats for each input position.
    period = out // size if size and out % size == 0 else 0
    if period and size <= _PERIODIC and _periodic(index, weights, period, size):
        return _by_phase(x, axis, index, weights, period)
    # Taps beyond the ends read the last element.
    index = np.clip(index, 0, size - 1)
    if index.shape[1] == 1:
        return jnp.take(x, index[:, 0], axis)
    if size * out <= _DENSE:
        # Several taps at an edge are one position, so their weights add up.
        # A matrix product has a matrix product as its gradient, where a gather has a slow scatter.
        matrix = np.zeros((out, size))
        # At an edge several taps may read one element.
        np.add.at(matrix, (np.arange(out)[:, None], index), weights)
        return _multiply(x, axis, matrix)
    shape = [-1 if a == axis else 1 for a in range(x.ndim)]
    return sum(
        jnp.take(x, index[:, t], axis) * jnp.asarray(weights[:, t], x.dtype).reshape(shape)
        for t in range(index.shape[1])
    )


def _periodic(index: np.ndarray, weights: Any, period: int, size: Any) -> bool:
    """Whether every run of `period` outputs reads the same pattern, one input position further on; limited
    positions count as edge."""
    # The pattern is taken from the middle, where no tap is limited to the axis.
    middle = (size // 2) * period
    want = index[middle : middle + period] - size // 2
    shifted = want[None] + np.arange(size)[:, None, None]
    limit = lambda i: np.clip(i, 0, size - 1)  # noqa: E731
    dense = np.zeros((2, index.shape[0], size))
    rows = np.arange(index.shape[0])[:, None]
    # Both forms as dense matrices, as taps at an edge may be listed in any order.
    np.add.at(dense[0], (rows, limit(index)), weights)
    np.add.at(
        dense[1],
        (rows, limit(shifted.reshape(index.shape))),
        np.tile(weights[middle : middle + period], (size, 1)),
    )
    return np.allclose(dense[0], dense[1], atol=1e-5)


def _by_phase(x: jax.Array, axis: int, index: np.ndarray, weights: Any, period: int) -> jax.Array:
    """Enlarging by a whole factor: each output phase is a weighted sum of shifted copies, so the gradient
    needs no scatter."""
    size = x.shape[axis]
    # The pattern of the middle, which no edge changes.
    middle = (size // 2) * period
    offsets = index[middle : middle + period] - size // 2
    w = weights[middle : middle + period]
    before = max(0, -int(offsets.min()))
    after = max(0, int(offsets.max()))
    if before or after:
        # Edge values, as positions outside read the edge.
        edge = jnp.pad(x, [(before, after) if a == axis else (0, 0) for a in range(x.ndim)], mode="edge")
    else:
        edge = x
    # Each shift is made once, though several phases use it.
    moved = {o: _window(edge, axis, o + before, size) for o in set(offsets.ravel().tolist())}
    phases = [
        sum(moved[o] * jnp.asarray(c, x.dtype) for o, c in zip(*row, strict=True) if c)
        for row in zip(offsets.tolist(), w.tolist(), strict=True)
    ]
    # Phases interleave: output p of input i lies at i * period + p.
    joined = jnp.stack(phases, axis + 1)
    return joined.reshape(*x.shape[:axis], size * period, *x.shape[axis + 1 :])


def _window(x: jax.Array, axis: int, start: int, size: Any) -> jax.Array:
    return x[tuple(slice(start, start + size) if a == axis else slice(None) for a in range(x.ndim))]


# tensordot puts the new axis first.
def _multiply(x: jax.Array, axis: int, matrix: np.ndarray) -> jax.Array:
    return jnp.moveaxis(jnp.tensordot(jnp.asarray(matrix, x.dtype), x, (1, axis)), 0, axis)


def _sizes(x: jax.Array, axes: Any, size: Any, scale_factor: Any) -> tuple[Any, Any]:
    """Output lengths and the scales that count for positions (None: the ratio of the lengths)."""
    n = len(axes)
    scales: list[Any] = [None] * n
    if scale_factor is not None:
        scales = _scales(n, scale_factor)
    if size is not None:
        if isinstance(size, int | float | str):
            raise TypeError(
                f"interpolate: size: got {size}; it must be a list of {n} ints for shape {list(x.shape)}"
            )
        if len(size) != n:
            raise ValueError(
                f"interpolate: size: got {size}; it must be a list of {n} ints for shape {list(x.shape)}"
            )
        sizes = [s if is_symbolic(s) else int(s) for s in size]
    else:
        sizes = [_scaled(x.shape[a], s) for a, s in zip(axes, scales, strict=True)]
    if any(s <= 0 for s in sizes if are_known(s)):
        text = f"interpolate: size: the result would be {sizes}; every length must be positive"
        raise ValueError(f"(InvalidArgument) {text}") if size is None else AssertionError(text)
    return sizes, scales


def _scales(n: int, scale_factor: Any) -> list[Any]:
    """One factor for each axis."""
    if isinstance(scale_factor, int | float):
        scales = [scale_factor] * n
    else:
        # One factor holds for all axes.
        scales = list(scale_factor) * (n if len(scale_factor) == 1 else 1)
    if len(scales) != n:
        raise ValueError(
            f"interpolate: scale_factor: got {scale_factor}; it must be a number or a list of {n} numbers"
        )
    if any(s <= 0 for s in scales):
        raise ValueError(f"interpolate: scale_factor: got {scale_factor}; it must be positive")
    return scales


def _scaled(length: Any, scale: float) -> Any:
    """A length times a scale, rounded down."""
    if not is_symbolic(length):
        return int(length * scale)
    # A symbolic length times a fraction: exact with whole numbers.
    number, divisor = float(scale).as_integer_ratio()
    return length * number // divisor


@known_as(
    amp="bilinear_interp_v2",
    pir="bilinear_interp|nearest_interp|linear_interp|trilinear_interp|bicubic_interp "
    "data_format:str='NCHW' out_d:i32=-1 out_h:i32=-1 out_w:i32=-1 scale:f64s "
    "interp_method:str align_corners:bool=False align_mode:i32=0",
    code="images:resize",
)
@op(method=False, register=False)
def _resize(
    x: jax.Array,
    size: Any,
    scale_factor: Any,
    mode: str,
    align_corners: bool,
    align_mode: int,
    last: bool,
    recompute: bool,
    antialias: bool,
) -> jax.Array:
    axes = range(1, x.ndim - 1) if last else range(2, x.ndim)
    sizes, scales = _sizes(x, axes, size, scale_factor)
    dtype = x.dtype
    # Positions need more digits than half precision has.
    if dtype in (jnp.float16, jnp.bfloat16):
        y = x.astype(jnp.float32)
    else:
        y = x
    for axis, out, scale in zip(axes, sizes, scales, strict=True):
        if recompute:
            # The ratio of the lengths counts, not the factor that was given.
            scale = None
        if not are_known(out, x.shape[axis]):
            if antialias:
                # The matrix of weights has a row for each output place, which must be known.
                raise ValueError("interpolate: antialias: it needs lengths that are fixed")
            ratio = _open_ratio(x.shape[axis], out, mode, align_corners, scale)
            y = _apply_open(y, axis, *_taps(x.shape[axis], out, mode, align_corners, align_mode, ratio, jnp))
        elif antialias:
            y = _multiply(y, axis, _antialias_matrix(x.shape[axis], out, mode, align_corners, scale))
        else:
            ratio = _ratio(x.shape[axis], out, mode, align_corners, scale)
            y = _apply(y, axis, *_taps(x.shape[axis], out, mode, align_corners, align_mode, ratio))
    return y.astype(dtype)


@composite(
    alias={"input": "x"},
    method=False,
    cases=[
        "f(1,2,3,4), [6,8]",
        "f(1,2,3,4), [5,7]",
        "f(1,2,4,6), [2,3]",
        "f(1,2,3,4), scale_factor=2",
        "f(1,2,3,4), scale_factor=1.5",
        "f(1,2,3,4), scale_factor=[2,3]",
        "f(1,2,3,4), [6,8], mode='bilinear'",
        "f(1,2,3,4), [5,3], mode='bilinear'",
        "f(1,2,3,4), [5,3], mode='bilinear', align_corners=True",
        "f(1,2,3,4), [5,9], mode='bilinear', align_mode=1",
        "f(1,2,3,4), scale_factor=2.5, mode='bilinear'",
        "f(1,2,3,4), [6,8], mode='bicubic'",
        "f(1,2,3,4), [5,3], mode='bicubic', align_corners=True",
        "f(1,2,5,4), [2,3], mode='bicubic'",
        "f(1,2,5), [8], mode='linear'",
        "f(1,2,5), 10, mode='linear'",
        "f(1,5,2), [8], mode='linear', data_format='NWC'",
        "f(1,5,2), [8], mode='linear', data_format='NLC'",
        "f(1,2,3,4), 6, mode='area'",
        "f(1,1,3,4), scale_factor=1.7, mode='bilinear', recompute_scale_factor=True",
        "f(1,2,3,4), [2,3], mode='bilinear', antialias=True",
        "f(1,2,7,6), [2,3], mode='bicubic', antialias=True",
        "f(1,1,4,4), scale_factor=4, mode='bicubic'",
        "f(1,2,5,6), scale_factor=3, mode='bilinear', align_mode=1",
        "f(1,2,5), [4]",
        "f(1,2,3,4), scale_factor=2, mode='area'",
        "f(1,1,5,4), [7,9], mode='bilinear', antialias=True",
        "f(1,2,3,4), [4,4], mode='bilinear', recompute_scale_factor=True",
        "f(1,2,2,3,4), [4,6,5], mode='trilinear'",
        "f(1,2,2,3,4), [3,3,3]",
        "f(1,2,4,6), [2,3], mode='area'",
        "f(1,2,5,7), [2,3], mode='area'",
        "f(1,3,4,2), [6,8], mode='bilinear', data_format='NHWC'",
        "d(1,2,2,2), [4,4], mode='bilinear'",
        "f(1,2,3,4), [6,8], mode='x'",
        "f(1,2,3), [6,8], mode='bilinear'",
        "f(1,2,3,4), mode='bilinear'",
        "f(1,2,3,4), [2], mode='bilinear'",
        "f(1,2,3,4), [2,2], 2",
        "f(1,2,3,4), [0,2]",
        "f(1,2,3,4), [6,8], align_corners=True",
        "f(1,2,1,1), [3,3], mode='bilinear'",
        "f(1,1,3,4), scale_factor=-1.0",
        "f(1,2,3,4), const([6,8],'int32')",
        "f(1,2,5,6), [1,1], mode='bilinear'",
        "f(1,2,5,6), [1,3], mode='bilinear'",
        "f(1,2,5,6), [3,1], mode='bicubic'",
        "f(1,2,5,6), scale_factor=.3, mode='bicubic'",
        "f(1,2,5,6), [1,3], mode='bilinear', align_mode=1",
        "f(1,1,3,5,6), [1,2,1], mode='trilinear'",
        "f(1,2,5,6), scale_factor=.1",
        "f(1,2,5,6), [1,3], mode='bilinear', antialias=True",
    ],
)
def interpolate(
    x: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Resizes the spatial axes of a batch of sequences, images or volumes.

    Args:
        x: Tensor [N, C, L], [N, C, H, W] or [N, C, D, H, W], or channels last. `input` is accepted as a name.
        size: output lengths: list of ints, or 1-D Tensor.
        scale_factor: number, or list of numbers, used when size is not given.
        mode: "nearest", "linear" (3-D x), "bilinear", "bicubic" (4-D), "trilinear" (5-D) or "area" (mean of
            the covered cells).
        align_corners: corner pixels of input and output coincide.
        align_mode: 0: pixels are cells with their centres at half-integers, 1: at integers; for linear modes
            without align_corners.
        data_format: "NCW", "NWC", "NCHW", "NHWC", "NCDHW", "NDHWC". Default: channels on axis 1.
        recompute_scale_factor: use the ratio of the lengths instead of scale_factor for positions.
        antialias: widen the filter when shrinking ("bilinear" and "bicubic").
    Returns:
        Tensor of the dtype of x.
    Raises:
        ValueError: mode does not fit the number of axes, or the sizes are not valid.
    Example:
        >>> paddle.nn.functional.interpolate(paddle.to_tensor([[[[1.0, 2.0]]]]), scale_factor=2).tolist()
        [[[[1.0, 1.0, 2.0, 2.0], [1.0, 1.0, 2.0, 2.0]]]]
    """
    mode = mode.lower()
    if mode not in _NDIM:
        raise ValueError(f"interpolate: mode: got {mode!r}; allowed are {', '.join(_NDIM)}")
    if x.ndim not in _NDIM[mode]:
        raise ValueError(
            f"interpolate: x: got shape {list(x.shape)}; "
            f"mode {mode!r} takes {' or '.join(map(str, _NDIM[mode]))} axes"
        )
    last = _channel_last(x.ndim, data_format)
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(
            f"interpolate: antialias: mode {mode!r} has none; it is for 'bilinear' and 'bicubic'"
        )
    if align_corners and mode == "nearest":
        raise ValueError(
            "interpolate: align_corners: mode 'nearest' has none; it is for the linear and cubic modes"
        )
    if recompute_scale_factor and size is not None:
        raise ValueError(
            "interpolate: recompute_scale_factor: it has no meaning with size; give scale_factor"
        )
    # The mean over the area is a pooling whose cells may differ in length.
    if mode == "area":
        return _area(x, size, last)
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: size, scale_factor: exactly one of them must be given")
    return _resize(
        x,
        size,
        scale_factor,
        mode,
        bool(align_corners),
        int(align_mode),
        last,
        bool(recompute_scale_factor),
        bool(antialias),
    )


def resize_to(
    x: Tensor, size: Any, scale_factor: Any, mode: str, align_corners: bool, align_mode: int, last: bool
) -> Tensor:
    """As `interpolate`: the size says the lengths, and scale_factor the positions."""
    return _resize(x, size, scale_factor, mode, align_corners, align_mode, last, False, False)


def _channel_last(ndim: int, data_format: str) -> bool:
    allowed = FORMATS[ndim - 2] if ndim > 3 else ("NCW", "NWC")
    if data_format is None:
        return False
    if data_format not in allowed:
        raise ValueError(
            f"interpolate: data_format: got {data_format!r}; "
            f"with {ndim} axes {', '.join(allowed)} are allowed"
        )
    return data_format[-1] == "C"


def _area(x: Tensor, size: Any, last: bool) -> Tensor:
    if size is None:
        raise ValueError("interpolate: size: got None; mode 'area' needs it")
    return adaptive_mean(x, freeze(size), last)


@composite(
    method=False,
    cases=[
        "f(1,2,3,4), [6,8]",
        "f(1,2,3,4), scale_factor=2, mode='bilinear'",
        "f(1,2,3), [6], mode='linear'",
        "f(1,2,3,4), [6,8], mode='x'",
    ],
)
def upsample(
    x: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Resizes the spatial axes: the older name of `interpolate`, with the same arguments.

    Args:
        x: Tensor [N, C, ...] or [N, ..., C].
        size, scale_factor, mode, align_corners, align_mode, data_format: as for `interpolate`.
    Returns:
        Tensor of the new size.
    Example:
        >>> paddle.nn.functional.upsample(paddle.to_tensor([[[[1.0]]]]), scale_factor=2).tolist()
        [[[[1.0, 1.0], [1.0, 1.0]]]]
    """
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)
