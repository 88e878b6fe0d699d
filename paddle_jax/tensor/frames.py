"""Overlapping frames of signals, and the short-time Fourier transform made of them.

Definitions: Griffin and Lim, Signal estimation from modified short-time Fourier transform, 1984.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.size import is_symbolic
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.axes import concrete
from paddle_jax.tensor.fourier import as_complex
from paddle_jax.tensor.inner import named
from paddle_jax.tensor.manipulation import cast

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Axes


_MAX_BLOCKS = 16  # frames that overlap more often go through index arrays
_NEARLY_ZERO = 1e-11  # Paddle's bound below which summed squares of a window count as zero


# frames on arrays -------------------------------------------------------------------------------------------


def cut(x: jax.Array, length: Any, hop: Any) -> jax.Array:
    """[..., n] to frames [..., count, length] that begin `hop` apart."""
    # Frames that do not fit at the end are left out.
    count = (x.shape[-1] - length) // hop + 1
    blocks = -(-length // hop)
    # Of an open length it is not known whether zeros are missing at the end.
    if blocks > _MAX_BLOCKS or is_symbolic(x.shape[-1]):
        return x[..., _starts(count, hop) + np.arange(length)]
    # Zeros at the end, so that every block is complete; they are cut off again.
    missing = max((count - 1 + blocks) * hop - x.shape[-1], 0)
    x = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, missing)])
    # Frames overlap: block k of all frames is the signal, shifted by k hops.
    parts = [x[..., k * hop : (k + count) * hop].reshape(*x.shape[:-1], count, hop) for k in range(blocks)]
    return jnp.concatenate(parts, -1)[..., :length]


def _starts(count: Any, hop: int) -> Any:
    """Where frames begin, as a column."""
    places = jnp.arange(count) if is_symbolic(count) else np.arange(count)
    return places[:, None] * hop


def added(frames: jax.Array, hop: Any) -> jax.Array:
    """[..., count, length] to the sum [..., n] of frames that begin `hop` apart: the transpose of `cut`."""
    *batch, count, length = frames.shape
    size = (count - 1) * hop + length
    blocks = -(-length // hop)
    if not frames.size:
        return jnp.zeros((*batch, size), frames.dtype)
    if blocks > _MAX_BLOCKS:
        # Frames that overlap often: one scatter in place of many additions.
        at = _starts(count, hop) + np.arange(length)
        return jnp.zeros((*batch, size), frames.dtype).at[..., at].add(frames)
    frames = jnp.pad(frames, [(0, 0)] * (frames.ndim - 1) + [(0, blocks * hop - length)])
    total = 0
    # The inverse of cutting: each block is added where it came from.
    for k in range(blocks):
        part = frames[..., k * hop : (k + 1) * hop].reshape(*batch, count * hop)
        total += jnp.pad(part, [(0, 0)] * len(batch) + [(k * hop, (blocks - 1 - k) * hop)])
    return total[..., :size]


def _positive(name: str, given: str, value: float) -> None:
    if isinstance(value, bool):
        raise TypeError(f"{name}: {given}: got a bool; it must be an int > 0")
    if not isinstance(value, int | np.integer) or value <= 0:
        raise ValueError(f"{name}: {given}: got {value!r}; it must be an int > 0")


def _check_axis(name: str, axis: int) -> None:
    if isinstance(axis, bool) or axis not in (0, -1):
        raise ValueError(f"{name}: axis: got {axis!r}; allowed are 0 and -1")


@known_as(pir="frame frame_length:i32 hop_length:i32 axis:i32")
@op(
    method=False,
    cases=[
        "f(8), 4, 2",
        "d(9), 4, 3, 0",
        "f(2,8), 3, 2",
        "f(8,2), 4, 2, 0",
        "f(20), 18, 1",
        "f(8), 4, 20",
        "i(8), 4, 2",
        "c(8), 4, 2",
        "f(0,8), 4, 2",
        "f(8), 9, 2",
        "f(8), 0, 2",
        "f(8), 4, 0",
        "f(8), 4.0, 2",
        "f(8), True, 2",
        "f(8,2), 4, 2, 1",
        "f(), 1, 1",
    ],
)
def frame(
    x: jax.Array, frame_length: int, hop_length: int, axis: Axes = -1, name: str | None = None
) -> jax.Array:
    """Cuts a signal into frames that may overlap.

    Args:
        x: Tensor [..., n] for axis -1, [n, ...] for axis 0.
        frame_length: int, 1 to n.
        hop_length: int > 0, the distance between the beginnings of two frames. What does not fill a frame at
            the end is left out.
        axis: 0 or -1, the axis of the signal.
    Returns:
        Tensor [..., frame_length, count] for axis -1, [count, frame_length, ...] for axis 0, with count = 1 +
        (n - frame_length) // hop_length.
    Raises:
        ValueError: axis, frame_length or hop_length is not allowed.
        IndexError: x has no axis.
    Example:
        >>> paddle.signal.frame(paddle.arange(5), 3, 2).tolist()
        [[0, 2], [1, 3], [2, 4]]
    """
    _check_axis("frame", axis)
    _positive("frame", "frame_length", frame_length)
    _positive("frame", "hop_length", hop_length)
    if not x.ndim:
        raise IndexError("frame: x: got a tensor of 0 axes; it needs at least 1")
    if frame_length > x.shape[axis]:
        raise ValueError(
            f"frame: frame_length: got {frame_length}; the signal has length {x.shape[axis]}, "
            "use at most that"
        )
    frames = cut(jnp.moveaxis(x, axis, -1), frame_length, hop_length)
    if axis == -1:
        # Frames are columns for the last axis, rows for the first, as in Paddle.
        return jnp.swapaxes(frames, -1, -2)
    return jnp.moveaxis(frames, (-2, -1), (0, 1))


@known_as(pir="overlap_add hop_length:i32 axis:i32")
@op(
    method=False,
    cases=[
        "f(4,3), 2",
        "d(3,4), 3, 0",
        "f(2,4,3), 1",
        "f(3,4,2), 2, 0",
        "f(18,4), 1",
        "i(4,3), 2",
        "c(4,3), 2",
        "f(4,0), 2",
        "f(0,4,3), 2",
        "f(4,3), 0",
        "f(4,3), 7",
        "f(4,3), 2.0",
        "f(4,3), 2, 1",
        "f(4), 2",
        "f(0,3), 2",
        "[1.0], 2",
    ],
)
def overlap_add(x: jax.Array, hop_length: int, axis: Axes = -1, name: str | None = None) -> jax.Array:
    """Adds frames up where they overlap: the transpose of `frame`.

    Args:
        x: Tensor [..., frame_length, count] for axis -1, [count, frame_length, ...] for axis 0.
        hop_length: int, 1 to frame_length, the distance between the beginnings of two frames.
        axis: 0 or -1.
    Returns:
        Tensor [..., n] for axis -1, [n, ...] for axis 0, with n = (count - 1) hop_length + frame_length.
    Raises:
        ValueError: axis or hop_length is not allowed, or x has fewer than 2 axes.
    Example:
        >>> paddle.signal.overlap_add(paddle.to_tensor([[1, 1], [1, 1], [1, 1]]), 2).tolist()
        [1, 1, 2, 1, 1]
    """
    _check_axis("overlap_add", axis)
    _positive("overlap_add", "hop_length", hop_length)
    if x.ndim < 2:
        raise ValueError(f"overlap_add: x: got {x.ndim} axes; it needs at least 2")
    # To [..., frames, length].
    if axis == -1:
        frames = jnp.swapaxes(x, -1, -2)
    else:
        frames = jnp.moveaxis(x, (0, 1), (-2, -1))
    if hop_length > frames.shape[-1]:
        raise ValueError(
            f"(InvalidArgument) overlap_add: hop_length: got {hop_length}; "
            f"the frames have length {frames.shape[-1]}, use at most that"
        )
    return jnp.moveaxis(added(frames, hop_length), -1, axis)


# short-time Fourier transform -------------------------------------------------------------------------------


def _signal(name: str, x: Sequence[float] | Tensor | None, ranks: Sequence[int]) -> None:
    """Refuses what is no Tensor of one of two numbers of axes."""
    if not isinstance(x, Tensor):
        raise AttributeError(f"{name}: x: got {type(x).__name__}; it must be a Tensor")
    if x.ndim not in ranks:
        raise AssertionError(f"{name}: x: got {x.ndim} axes; it must have {ranks[0]} or {ranks[1]}")


def _window_length(
    name: str, n_fft: int, win_length: int | None, window: Sequence[float] | Tensor | None
) -> int:
    """The length of the window, checked."""
    if win_length is None:
        win_length = n_fft
    if not 0 < win_length <= n_fft:
        raise AssertionError(f"{name}: win_length: got {win_length}; it must be in 1..n_fft ({n_fft})")
    if isinstance(win_length, float):
        raise TypeError(f"{name}: win_length: got {win_length}; it must be an int")
    if window is not None and not isinstance(window, Tensor):
        raise AttributeError(f"{name}: window: got {type(window).__name__}; it must be a Tensor or None")
    if window is not None and list(window.shape) != [win_length]:
        raise AssertionError(
            f"{name}: window: got shape {list(window.shape)}; it must be [{win_length}], "
            "the length of the window"
        )
    return win_length


def _centered(window: jax.Array | None, win_length: int, n_fft: int, library: Any = jnp) -> jax.Array:
    """The window (ones for None) with zeros on both sides up to n_fft."""
    # A short window stands in the middle of the frame.
    before = (n_fft - win_length) // 2
    if window is None:
        window = library.ones(win_length)
    return library.pad(window, (before, n_fft - win_length - before))


@known_as(code="spectra:stft")
@op("x window", promote=True, register=False, method=False)
@named("stft")
def _stft(
    x: jax.Array,
    window: jax.Array | None = None,
    *,
    n_fft: int,
    hop_length: int,
    win_length: int,
    pad_mode: str,
    norm: str,
    onesided: bool,
) -> jax.Array:
    if pad_mode is not None:
        x = jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)], mode=pad_mode)
    # The transform has no half precision.
    x = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    frames = cut(x, n_fft, hop_length)
    if window is not None or win_length < n_fft:
        frames = frames * _centered(window, win_length, n_fft).astype(x.dtype)
    # A real signal has a symmetric spectrum, of which half is enough.
    if onesided:
        spectrum = jnp.fft.rfft(frames, norm=norm)
    else:
        spectrum = jnp.fft.fft(as_complex(frames), norm=norm)
    # Paddle has frequencies before frames.
    return jnp.swapaxes(spectrum, -1, -2)


@composite(
    cases=[
        "f(16), 4",
        "d(2,16), 5, 2, 3",
        "f(12), 4, 2, window=pos(4)",
        "d(12), 4, 2, 3, pos(3), False",
        "c(12), 4, pad_mode='constant'",
        "f(9), 4, normalized=True, onesided=False",
        "c(9), 4, window=c(4)",
        "i(16), 4",
        "i(9), 4, window=pos(4)",
        "f(40), 18, 1",
        "f(2), 2, 1",
        "f(0,16), 4",
        "f(2,3,16), 4",
        "f(), 4",
        "c(16), 4, onesided=True",
        "f(16), 17",
        "f(16), 3",
        "f(16), 4, 0",
        "f(16), 4, 2, 5",
        "f(16), 4, 2, window=pos(3)",
        "f(16), 4, pad_mode='circular'",
        "[1.0], 4",
        "f(16), 4.0",
        "f(16), 4, 2.0",
        "f(16), 4, window=[1.0]",
    ]
)
def stft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The short-time Fourier transform: `fft.fft` of windowed frames of a signal.

    Args:
        x: Tensor [n] or [batch, n], real or complex.
        n_fft: int, the length of a frame, at most n.
        hop_length: int > 0, the distance between the beginnings of two frames. Default: n_fft // 4.
        win_length: int, the length of the window, at most n_fft; zeros on both sides fill it
            up. Default: n_fft.
        window: Tensor [win_length]. Default: ones.
        center: continue x on both sides by n_fft // 2 elements, so that frame k is centred at k hop_length.
        pad_mode: how: "reflect" or "constant" (zeros).
        normalized: divide by sqrt(n_fft).
        onesided: keep the first n_fft // 2 + 1 frequencies, from which the others follow for real signals.
            Default: so for real x and window.
    Returns:
        Complex Tensor [frequencies, frames] or [batch, frequencies, frames].
    Raises:
        AssertionError: x is neither 1-D nor 2-D, a length or pad_mode is not allowed, the window has another
            length, or onesided is asked for of what is complex.
        TypeError: the dtypes of x and window do not go together.
    Example:
        >>> paddle.signal.stft(paddle.ones([8]), n_fft=4, hop_length=4, center=False).abs().tolist()
        [[4.0, 4.0], [0.0, 0.0], [0.0, 0.0]]
    """
    _signal("stft", x, (1, 2))
    if hop_length is None:
        hop_length = n_fft // 4
    if hop_length <= 0:
        raise AssertionError(f"stft: hop_length: got {hop_length} (n_fft // 4 by default); it must be > 0")
    if not 0 < n_fft <= x.shape[-1]:
        raise AssertionError(
            f"stft: n_fft: got {n_fft}; it must be in 1..{x.shape[-1]}, the length of the signal"
        )
    if isinstance(n_fft, float):
        raise TypeError(f"stft: n_fft: got {n_fft}; it must be an int")
    _positive("stft", "hop_length", hop_length)
    win_length = _window_length("stft", n_fft, win_length, window)
    if center and pad_mode not in ("reflect", "constant"):
        raise AssertionError(f"stft: pad_mode: got {pad_mode!r}; allowed are 'reflect' and 'constant'")
    kinds = [numpy_dtype(t).kind for t in (x, window) if t is not None]
    if onesided and "c" in kinds:
        raise AssertionError("stft: onesided: got True for a complex x or window; it must be False or None")
    # Whole numbers have no spectrum of their own dtype.
    if all(kind in "biu" for kind in kinds):
        x = cast(x, dtypes.default())
        if window is None:
            window = None
        else:
            window = cast(window, dtypes.default())
    # Half of the spectrum where it determines the rest.
    if onesided is None:
        onesided = "c" not in kinds
    else:
        onesided = bool(onesided)
    return _stft(
        x,
        window,
        n_fft=n_fft,
        hop_length=hop_length,
        win_length=win_length,
        pad_mode=pad_mode if center else None,
        norm="ortho" if normalized else "backward",
        onesided=onesided,
    )


def _overlap(
    name: str,
    window: Any,
    win_length: int,
    n_fft: int,
    hop_length: int,
    count: int,
    start: int,
    stop: int,
) -> None:
    """Refuses windows whose squares add up to zero somewhere. Under a trace the window
    cannot be looked at."""
    # The check looks at the window where that is free.
    window = None if window is None else concrete(window)
    padded = _centered(window, win_length, n_fft, np)
    total = np.zeros((count - 1) * hop_length + n_fft, padded.dtype)
    # The squares of all windows that cover a place.
    for k in range(count):
        total[k * hop_length : k * hop_length + n_fft] += padded * padded
    if not total[start:stop].size:
        raise ValueError(
            f"{name}: length: {count} frames leave nothing of the signal; "
            "give more frames, center=False or a length > 0"
        )
    # The signal cannot be found where no window covers it.
    if np.abs(total[start:stop]).min() < _NEARLY_ZERO:
        raise ValueError(
            f"{name}: window: the squares of overlapping windows add up to 0 somewhere; "
            "use a smaller hop_length or another window"
        )


@known_as(code="spectra:istft")
@op("x window", register=False, method=False)
@named("istft")
def _istft(
    x: jax.Array,
    window: jax.Array | None = None,
    *,
    n_fft: int,
    hop_length: int,
    win_length: int,
    norm: str,
    start: Any,
    stop: Any,
    real: bool,
) -> jax.Array:
    x = jnp.swapaxes(as_complex(x), -1, -2)
    if real:
        # The rest of a two-sided spectrum mirrors these terms.
        frames = jnp.fft.irfft(x[..., : n_fft // 2 + 1], n_fft, norm=norm)
    else:
        frames = jnp.fft.ifft(x, norm=norm)
    if window is None:
        dtype = frames.dtype
    else:
        dtype = dtypes.promote_np(frames.dtype, window.dtype)
    window = _centered(window, win_length, n_fft).astype(dtype)
    total = added(jnp.broadcast_to(window * window, (x.shape[-2], n_fft)), hop_length)
    # Least squares: frames times the window, over the summed squares (Griffin and Lim, 1984).
    return added(frames * window, hop_length)[..., start:stop] / total[start:stop]


def _check_spectrum(
    x: Tensor,
    n_fft: int,
    hop_length: int,
    win_length: int,
    window: Tensor | None,
    onesided: bool,
    return_complex: bool,
) -> None:
    """Refuses what `istft` does not allow."""
    if not x.size:
        raise AssertionError(f"istft: x: got the empty shape {list(x.shape)}; it must not be empty")
    if not 0 < hop_length <= win_length:
        raise AssertionError(
            f"istft: hop_length: got {hop_length}; it must be in 1..win_length ({win_length})"
        )
    terms = n_fft // 2 + 1 if onesided else n_fft
    if x.shape[-2] != terms:
        raise AssertionError(
            f"istft: x: got {x.shape[-2]} frequencies; "
            f"with onesided={onesided} and n_fft={n_fft} it must have {terms}"
        )
    if window is not None and numpy_dtype(window).kind == "c" and not return_complex:
        raise AssertionError("istft: window: got a complex one; it must be real unless return_complex=True")
    if return_complex and onesided:
        raise AssertionError(
            "istft: onesided: got True with return_complex=True; "
            "a complex signal needs all frequencies, onesided=False"
        )


@composite(
    cases=[
        "c(3,9), 4",
        "c128(2,3,9), 4, 2, 3, ud(0.5, 2, 3)",
        "c(3,9), 4, 2, window=pos_d(4), normalized=True",
        "c(3,9), 4, 2, center=False",
        "c(4,9), 4, 2, window=c(4), onesided=False, return_complex=True",
        "c(4,9), 4, onesided=False",
        "f(3,9), 4, length=5",
        "c(3,5), 4, length=20",
        "c(10,5), 18, 1",
        "c(3,9), 4, length=0",
        "c(3,1), 4",
        "c(3), 4",
        "c(3,0), 4",
        "c(4,9), 4",
        "c(3,9), 4, onesided=False",
        "c(3,9), 4, 5",
        "c(3,9), 4, 2, 5",
        "c(3,9), 4, window=pos(3)",
        "c(3,9), 4, window=c(4)",
        "c(3,9), 4, return_complex=True",
        "c(3,9), 4, 4, window=const([0., 1, 1, 0])",
        "None, 4",
        "c(3,9), 4, window=pos_i(4)",
    ]
)
def istft(
    x: Tensor,
    n_fft: Any,
    hop_length: Any = None,
    win_length: Any = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool = True,
    length: Any = None,
    return_complex: bool = False,
    name: str | None = None,
) -> Tensor:
    """The inverse of `stft`: the signal whose short-time Fourier transform is nearest to x (least squares).

    Args:
        x: complex Tensor [frequencies, frames] or [batch, frequencies, frames].
        n_fft, hop_length, win_length, window, normalized: as they were for `stft`; hop_length is at
            most win_length.
        center: cut n_fft // 2 elements off at both ends.
        onesided: x has n_fft // 2 + 1 frequencies, not n_fft.
        length: the result has at most this length. Default: all that the frames tell.
        return_complex: the signal is complex; needs onesided=False.
    Returns:
        Tensor [n] or [batch, n].
    Raises:
        AssertionError: x is neither 2-D nor 3-D or is empty, a length is not allowed, the number of
            frequencies does not fit, or a complex result is asked for of half a spectrum or refused for
            a complex window.
        ValueError: somewhere the squares of overlapping windows add up to zero, or nothing is
            left of the signal.
    Example:
        >>> x = paddle.arange(8, dtype="float32")
        >>> [round(v, 3) for v in paddle.signal.istft(paddle.signal.stft(x, 4), 4).tolist()]
        [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    _signal("istft", x, (2, 3))
    if hop_length is None:
        hop_length = n_fft // 4
    win_length = _window_length("istft", n_fft, win_length, window)
    _check_spectrum(x, n_fft, hop_length, win_length, window, onesided, return_complex)
    if isinstance(n_fft, float) or not isinstance(length, int | np.integer | None):
        raise ValueError(f"istft: got n_fft={n_fft} and length={length}; they must be ints")
    _positive("istft", "hop_length", hop_length)
    # The length of the signal with its padding.
    size = (x.shape[-1] - 1) * hop_length + n_fft
    # The padding of `center` is cut off again.
    start = n_fft // 2 if center else 0
    if length is None:
        stop = size - start
    # Not beyond what the frames hold.
    else:
        stop = min(max(start + length, start), size)
    _overlap("istft", window, win_length, n_fft, hop_length, x.shape[-1], start, stop)
    return _istft(
        x,
        window,
        n_fft=n_fft,
        hop_length=hop_length,
        win_length=win_length,
        norm="ortho" if normalized else "backward",
        start=start,
        stop=stop,
        real=not return_complex,
    )
