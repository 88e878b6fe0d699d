"""Discrete Fourier transforms: the transforms proper, their checks, and the functions of one axis.

Three inner ops do all the work: complex to complex, real to half a spectrum, and half a spectrum to real.
Definitions and normalisation are those of numpy.fft and scipy.fft
(https://numpy.org/doc/stable/reference/routines.fft.html).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.size import is_symbolic
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lengths import to_int
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor import open_transforms
from paddle_jax.tensor.inner import named
from paddle_jax.tensor.manipulation import cast

if TYPE_CHECKING:
    import jax


DIM = {"input": "x", "dim": "axis"}
_SWAPPED = {"forward": "backward", "backward": "forward", "ortho": "ortho"}
_AT_ONCE = 3  # axes that XLA transforms in one go
ONE = [
    "d(5)",
    "f(2,3), axis=0",
    "f(2,3,2), 2, -2, 'ortho'",
    "f(3), 6, norm='forward'",
    "f(4), 0",
    "f(4), 2.5",
    "f(4), axis=1",
    "f(4), norm='x'",
    "f()",
]


# the transforms on arrays -----------------------------------------------------------------------------------


def _resized(x: jax.Array, axes: Sequence[int], lengths: Sequence[int] | None) -> jax.Array:
    """x cut or filled up with zeros at the end of the given axes."""
    for axis, n in zip(axes, lengths or (), strict=bool(lengths)):
        missing = n - x.shape[axis]
        if missing > 0:
            widths = [(0, 0)] * x.ndim
            widths[axis] = (0, missing)
            x = jnp.pad(x, widths)
        elif missing:
            x = lax.slice_in_dim(x, 0, n, axis=axis)
    return x


def as_complex(x: jax.Array) -> jax.Array:
    """x in the complex dtype of its precision."""
    if x.dtype in (jnp.float64, jnp.complex128):
        return x.astype(jnp.complex128)
    return x.astype(jnp.complex64)


def _complex_axes(x: jax.Array, axes: Sequence[int], forward: bool, norm: str) -> jax.Array:
    """The transform over any number of axes of a complex array."""
    if any(open_transforms.is_open(x, axis) for axis in axes):
        for axis in axes:
            x = _along_axis(x, axis, forward, norm)
        return x
    function = jnp.fft.fftn if forward else jnp.fft.ifftn
    # The transform is one along each axis, so it can be made in parts.
    for i in range(0, len(axes) if x.size else 0, _AT_ONCE):
        x = function(x, axes=axes[i : i + _AT_ONCE], norm=norm)
    return x


def _along_axis(x: jax.Array, axis: int, forward: bool, norm: str) -> jax.Array:
    """The transform along one axis, whose length may be open."""
    if open_transforms.is_open(x, axis):
        return open_transforms.transform(x, axis, forward, norm)
    return _complex_axes(x, [axis], forward, norm)


def _half_of_real(x: jax.Array, axis: int, forward: bool, norm: str) -> jax.Array:
    """The first n // 2 + 1 terms of the transform of a real array along one axis; the rest are
    their conjugates."""
    # XLA has no transform of nothing.
    if not x.size:
        shape = list(x.shape)
        shape[axis] = shape[axis] // 2 + 1
        return as_complex(jnp.zeros(shape, x.dtype))
    if not (x.dtype == jnp.float64):
        # Half precision has no transform in XLA.
        x = x.astype(jnp.float32)
    if open_transforms.is_open(x, axis):
        return open_transforms.half_of_real(x, axis, forward, norm)
    if forward:
        return jnp.fft.rfft(x, axis=axis, norm=norm)
    # Of a real array the inverse transform is the conjugate of the other, up to the factor.
    return jnp.conj(jnp.fft.rfft(x, axis=axis, norm=_SWAPPED[norm]))


def _real_of_half(x: jax.Array, axis: int, n: int, forward: bool, norm: str) -> jax.Array:
    """The real array of length n whose transform begins with x along one axis."""
    shape = list(x.shape)
    shape[axis] = n
    if 0 in shape or not x.size:
        return jnp.real(jnp.zeros(shape, x.dtype))
    if is_symbolic(n):
        return open_transforms.real_of_half(x, axis, n, forward, norm)
    if forward:
        # XLA has only the inverse from half of the terms to real numbers; the same relation turns it round.
        return jnp.fft.irfft(jnp.conj(x), n, axis, _SWAPPED[norm])
    return jnp.fft.irfft(x, n, axis, norm)


@known_as(pir="fft_c2c axes:i64s normalization:str forward:bool", code="matrices:fft_c2c")
@op(register=False, method=False)
@named("fft_c2c")
def c2c(x: jax.Array, lengths: Any, axes: Any, forward: bool, norm: str) -> jax.Array:
    """Complex (or real) to complex."""
    return _complex_axes(as_complex(_resized(x, axes, lengths)), axes, forward, norm)


@known_as(pir="fft_r2c axes:i64s normalization:str forward:bool onesided:bool", code="matrices:fft_r2c")
@op(register=False, method=False)
@named("fft_r2c")
def r2c(x: jax.Array, lengths: Any, axes: Any, forward: bool, norm: str) -> jax.Array:
    """Real to complex, half of the last axis."""
    # First the last axis: afterwards the numbers are complex, and half of them is left.
    half = _half_of_real(_resized(x, axes, lengths), axes[-1], forward, norm)
    return _complex_axes(half, axes[:-1], forward, norm)


@known_as(pir="fft_c2r axes:i64s normalization:str forward:bool last_dim_size:i64", code="matrices:fft_c2r")
@op(register=False, method=False)
@named("fft_c2r")
def c2r(x: jax.Array, lengths: Any, axes: Any, forward: bool, norm: str) -> jax.Array:
    """Complex, of which half of the last axis is given, to real. All lengths are those of the result."""
    x = as_complex(_resized(x, axes, (*lengths[:-1], lengths[-1] // 2 + 1)))
    return _real_of_half(_complex_axes(x, axes[:-1], forward, norm), axes[-1], lengths[-1], forward, norm)


# checks -----------------------------------------------------------------------------------------------------


def _is_int(value: float | None) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _operand(name: str, x: Any, real: bool) -> Tensor:
    """x as a floating or complex Tensor."""
    if not isinstance(x, Tensor):
        raise ArgumentError(f"{name}(): argument 'x' (position 0) must be Tensor, but got {type(x).__name__}")
    kind = numpy_dtype(x).kind
    if real and kind == "c":
        raise RuntimeError(
            f"{name}: x: got {numpy_dtype(x).name}; it must be real; "
            "use a transform of complex tensors such as fft"
        )
    if kind in "biu":
        return cast(x, dtypes.default())
    return x


def _length(name: str, n: Any, given: str = "n") -> int:
    if isinstance(n, bool):
        raise TypeError(f"{name}: {given}: got a bool; it must be a positive int")
    if not _is_int(n) or n <= 0:
        raise ValueError(f"{name}: {given}: got {n!r}; it must be a positive int")
    return to_int(n)


def _axis(name: str, axis: int, ndim: int, given: str = "axis") -> int:
    if not _is_int(axis) or not -ndim <= axis < ndim:
        raise ValueError(
            f"{name}: {given}: got {axis!r} for a tensor of {ndim} axes; "
            f"it must be an int in {-ndim}..{ndim - 1}"
        )
    return int(axis) % ndim


def _norm(name: str, norm: str) -> None:
    if not isinstance(norm, str) or norm not in _SWAPPED:
        raise ValueError(f"{name}: norm: got {norm!r}; allowed are 'forward', 'backward' and 'ortho'")


def _one(
    name: str, x: Sequence[float] | Tensor, n: float | None, axis: int | None, norm: str, real: bool = False
) -> tuple[Any | Tensor, tuple[Any] | None, tuple[Any | int]]:
    """Checked (x, lengths or None, axes) of a transform along one axis."""
    x = _operand(name, x, real)
    _norm(name, norm)
    lengths = None
    if n is not None:
        lengths = (_length(name, n),)
    if axis is None:
        axis = -1
    return x, lengths, (_axis(name, axis, x.ndim),)


def many(
    name: str, x: Any, s: Any, axes: Any, norm: str, real: bool = False
) -> tuple[Any | Tensor, tuple[Any, ...] | None, tuple[Any | int, ...]]:
    """Checked (x, lengths or None, axes) of a transform along several axes."""
    x = _operand(name, x, real)
    _norm(name, norm)
    for given, value in (("s", s), ("axes", axes)):
        if value is not None and not isinstance(value, list | tuple | range):
            raise ValueError(f"{name}: {given}: got {value!r}; it must be a list or a tuple of ints")
    if s is None:
        lengths = None
    else:
        lengths = tuple(_length(name, n, "s") for n in s)
    if axes is None:
        # Without axes the last ones are meant, as many as there are lengths.
        axes = range(-(x.ndim if s is None else len(s)), 0)
        if len(axes) > x.ndim or not axes:
            raise ValueError(
                f"{name}: s: got {s} for a tensor of {x.ndim} axes; give 1 to {x.ndim} lengths, "
                "of the last axes"
            )
    if len(axes) == 0:
        raise IndexError(f"{name}: axes: got none; name at least one axis")
    axes = tuple(_axis(name, a, x.ndim, "axes") for a in axes)
    if len(set(axes)) != len(axes):
        raise ValueError(f"{name}: axes: got {list(axes)}; each axis may be named once")
    if lengths is not None and len(lengths) != len(axes):
        raise ValueError(f"{name}: s: got {len(lengths)} lengths for {len(axes)} axes; give one for each")
    return x, lengths, axes


def whole(name: str, x: Tensor, lengths: Any, axes: Any) -> tuple[int, ...]:
    """The lengths of the real result of half a spectrum: by default 2 (m - 1) for m terms
    of the last axis."""
    if lengths is not None:
        return lengths
    lengths = [x.shape[a] for a in axes]
    lengths[-1] = 2 * (lengths[-1] - 1)
    if lengths[-1] < 0:
        raise ValueError(
            f"{name}: x: got shape {list(x.shape)}; the axis of half the spectrum (axis "
            f"{axes[-1]}) must not be empty"
        )
    return tuple(lengths)


# functions of one axis --------------------------------------------------------------------------------------


@composite(
    method=False,
    out=True,
    alias=DIM,
    cases=[
        *ONE,
        "f(4)",
        "c(2,5), 3, 0",
        "c128(3), norm='ortho'",
        "i(4)",
        "f(0)",
        "f(0,3)",
        "f(0), 3",
        "f(4), -1",
        "[1.0]",
        "f(4), True",
        "f(4), axis=None",
        "input=f(2,3), dim=0",
    ],
)
def fft(x: Tensor, n: Any = None, axis: int = -1, norm: str = "backward", name: str | None = None) -> Tensor:
    """The discrete Fourier transform along one axis: X[k] = sum_j x[j] exp(-2 pi i j k / n).

    Args:
        x: Tensor [...], real or complex; integers are taken in the default floating dtype. `input` is
            accepted as a name.
        n: length of the transform; x is cut or filled up with zeros to it. Default: the length of the axis.
        axis: int. `dim` is accepted as a name.
        norm: where the factor 1 / n is: "backward" (in the inverse), "forward", or "ortho" (1 /
            sqrt(n) in both).
        out: Tensor that receives the result.
    Returns:
        Tensor, complex128 for a float64 or complex128 x, else complex64; the axis has length n.
    Raises:
        ValueError: n is not a positive int, the axis is out of range, or norm is something else.
        TypeError: x is no Tensor.
    Example:
        >>> paddle.fft.fft(paddle.to_tensor([1.0, 0.0, -1.0, 0.0])).real().tolist()
        [0.0, 2.0, 0.0, 2.0]
    """
    return c2c(*_one("fft", x, n, axis, norm), True, norm)


@composite(method=False, out=True, alias=DIM, cases=[*ONE, "c(2,5), 3, 0", "i(4)", "c(0,3)"])
def ifft(x: Tensor, n: Any = None, axis: Any = -1, norm: str = "backward", name: str | None = None) -> Tensor:
    """The inverse of `fft` along one axis: x[j] = 1/n sum_k X[k] exp(2 pi i j k / n).

    Args:
        x: Tensor [...], real or complex; integers are taken in the default floating dtype. `input` is
            accepted as a name.
        n: length of the transform; x is cut or filled up with zeros to it. Default: the length of the axis.
        axis: int. `dim` is accepted as a name.
        norm: where the factor 1 / n is: "backward" (in the inverse), "forward", or "ortho" (1 /
            sqrt(n) in both).
        out: Tensor that receives the result.
    Returns:
        Tensor, complex128 for a float64 or complex128 x, else complex64; the axis has length n.
    Example:
        >>> paddle.fft.ifft(paddle.to_tensor([4.0, 0.0, 0.0, 0.0])).real().tolist()
        [1.0, 1.0, 1.0, 1.0]
    """
    return c2c(*_one("ifft", x, n, axis, norm), False, norm)


@composite(
    method=False, out=True, alias=DIM, cases=[*ONE, "f(4)", "i8(4)", "c(4)", "f(0)", "f(0,3)", "f(3,0)"]
)
def rfft(x: Tensor, n: Any = None, axis: Any = -1, norm: str = "backward", name: str | None = None) -> Tensor:
    """The first n // 2 + 1 terms of `fft` of a real tensor; the others are their conjugates.

    Args:
        x: Tensor [...], real or complex; integers are taken in the default floating dtype. `input` is
            accepted as a name.
        n: length of the transform; x is cut or filled up with zeros to it. Default: the length of the axis.
        axis: int. `dim` is accepted as a name.
        norm: where the factor 1 / n is: "backward" (in the inverse), "forward", or "ortho" (1 /
            sqrt(n) in both).
        out: Tensor that receives the result.
    Returns:
        Complex Tensor; the axis has length n // 2 + 1.
    Raises:
        RuntimeError: x is complex.
        ValueError: as for `fft`.
    Example:
        >>> paddle.fft.rfft(paddle.to_tensor([1.0, 0.0, -1.0, 0.0])).real().tolist()
        [0.0, 2.0, 0.0]
    """
    return r2c(*_one("rfft", x, n, axis, norm, True), True, norm)


@composite(
    method=False,
    out=True,
    alias=DIM,
    cases=[*ONE, "c(4)", "c(4), 5", "c128(2,3), 7, 0", "c(1)", "c(1), 1", "c(3,0)", "c(0,3)"],
)
def irfft(
    x: Tensor, n: Any = None, axis: Any = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `rfft`: the real tensor of length n whose transform begins with x.

    Args:
        x: Tensor [...], the first n // 2 + 1 terms; it is cut or filled up with zeros to as many. Imaginary
            parts that would make the result complex (of the first term, and of the last for an even n) are
            not read. `input` is accepted as a name.
        n: length of the result. Default: 2 (m - 1) for an axis of length m.
        axis, norm, out: as for `fft`.
    Returns:
        Real Tensor; the axis has length n.
    Raises:
        ValueError: as for `fft`, or the axis is empty.
    Example:
        >>> paddle.fft.irfft(paddle.to_tensor([4.0, 0.0, 0.0])).tolist()
        [1.0, 1.0, 1.0, 1.0]
    """
    x, lengths, axes = _one("irfft", x, n, axis, norm)
    return c2r(x, whole("irfft", x, lengths, axes), axes, False, norm)


@composite(
    method=False, out=True, alias=DIM, cases=[*ONE, "c(4)", "c(4), 5", "c128(2,3), 7, 0", "c(1)", "c(0)"]
)
def hfft(x: Tensor, n: Any = None, axis: Any = -1, norm: str = "backward", name: str | None = None) -> Tensor:
    """The real transform of a signal that is Hermitian (x[-j] = conj(x[j])), of which n // 2 + 1 terms are
    given.

    Args:
        x: Tensor [...], the first n // 2 + 1 terms; it is cut or filled up with zeros to as many. Imaginary
            parts that would make the result complex (of the first term, and of the last for an even n) are
            not read. `input` is accepted as a name.
        n: length of the result. Default: 2 (m - 1) for an axis of length m.
        axis, norm: as for `fft`.
        out: Tensor that receives the result.
    Returns:
        Real Tensor; the axis has length n.
    Example:
        >>> paddle.fft.hfft(paddle.to_tensor([1.0, 1.0, 1.0])).tolist()
        [4.0, 0.0, 0.0, 0.0]
    """
    x, lengths, axes = _one("hfft", x, n, axis, norm)
    return c2r(x, whole("hfft", x, lengths, axes), axes, True, norm)


@composite(method=False, out=True, alias=DIM, cases=[*ONE, "f(4)", "i(4)", "c(4)", "f(3,0)"])
def ihfft(
    x: Tensor, n: Any = None, axis: Any = -1, norm: str = "backward", name: str | None = None
) -> Tensor:
    """The inverse of `hfft`: the first n // 2 + 1 terms of the Hermitian signal whose transform is the real
    x. Arguments as for `rfft`.

    Args:
        x: real Tensor [...]. `input` is accepted as a name.
        n, axis, norm: as for `rfft`.
        out: Tensor that receives the result.
    Returns:
        Complex Tensor; the axis has length n // 2 + 1.
    Example:
        >>> paddle.fft.ihfft(paddle.to_tensor([4.0, 0.0, 0.0, 0.0])).real().tolist()
        [1.0, 1.0, 1.0]
    """
    return r2c(*_one("ihfft", x, n, axis, norm, True), False, norm)
