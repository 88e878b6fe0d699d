"""Complex numbers: joined and taken apart, and their functions with XLA's branch cuts.

XLA counts a zero of either sign as positive on most branch cuts. complex64 is computed in
complex128 and rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.rules import Avals, Params, Refusal, Run, rule

# They have a cut along the real axis, where the sign of zero chooses the side.
CUT = frozenset(("acos", "acosh", "asin", "asinh", "sqrt"))


@rule("real")
def _real(params: Params, ins: Avals, outs: Avals) -> Run:
    return lambda x: x.real


@rule("imag")
def _imag(params: Params, ins: Avals, outs: Avals) -> Run:
    return lambda x: x.imag


@rule("complex")
def _complex(params: Params, ins: Avals, outs: Avals) -> Run:
    shape = outs[0].shape
    dtype = outs[0].dtype

    def join(real: Any, imag: Any) -> Any:
        z: Any = np.empty(shape, dtype)
        z.real = real
        z.imag = imag
        return z

    return join


@rule("conj")
def _conj(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = outs[0].dtype
    if ins[0].dtype.kind == "c":
        return np.conjugate
    return lambda x: x.astype(dtype)


def complex_function(name: str, ufunc: Any, dtype: np.dtype) -> Any:
    """An elementary function of complex numbers."""
    if name in ("cbrt", "atan2"):
        raise Refusal(f"{name} of complex numbers is compiled")
    if name == "log1p":
        ufunc = _log1p
    cut = name in CUT

    def function(x: np.ndarray) -> Any:
        # Twice the precision, rounded once at the end.
        x = x.astype(np.complex128, copy=False)
        return ufunc(x + 0 if cut else x).astype(dtype, copy=False)  # -0.0 + 0 is 0.0

    return function


def _log1p(z: Any) -> Any:
    """log(1 + z); near zero the real part comes from the exact difference of |1 + z|^2 from one."""
    x = z.real
    y = z.imag
    w: Any = np.asarray(np.log1p(z))
    excess = x * (2 + x) + y * y
    near_zero = 0.5 * np.log1p(excess) + 1j * w.imag
    return np.where(np.abs(z) < 0.5, near_zero, w)


def complex_square(x: Any) -> Any:
    """The square without the remainder that a fused multiply-add would leave in (a + ai)^2."""
    a = x.real
    b = x.imag
    z: Any = np.empty(np.shape(x), x.dtype)
    z.real = (a - b) * (a + b)
    z.imag = 2 * a * b
    return z


def complex_quotient(dtype: np.dtype) -> Any:
    """Division with C99's results (annex G) where infinities or a divisor of zero leave NaN."""

    def divide(x: np.ndarray, y: np.ndarray) -> Any:
        z: Any = np.asarray(np.divide(x, y))
        lost = (y == 0) | np.isnan(z.real) & np.isnan(z.imag)
        if not lost.any():
            return z
        x, y = np.broadcast_arrays(x, y)
        return _repaired(z, x, y, lost).astype(dtype, copy=False)

    return divide


def _repaired(z: Any, x: Any, y: Any, lost: np.ndarray) -> Any:
    """Quotients with C99's results in place of NaN.

    Args:
        z: the quotients.
        x: dividends, a + bi.
        y: divisors, c + di.
        lost: where the quotients are to be computed again.
    """
    z = np.array(z)
    a = x.real[lost]
    b = x.imag[lost]
    c = y.real[lost]
    d = y.imag[lost]
    is_dividend_nan = np.isnan(a) & np.isnan(b)
    by_zero = (c == 0) & (d == 0) & ~is_dividend_nan
    is_finite_divisor = np.isfinite(c) & np.isfinite(d)
    of_infinity = (np.isinf(a) | np.isinf(b)) & is_finite_divisor & ~by_zero
    by_infinity = (np.isinf(c) | np.isinf(d)) & np.isfinite(a) & np.isfinite(b)
    cases = [by_zero, of_infinity, by_infinity]
    # The real part of a zero divisor decides the sign, also as -0.0.
    infinity = np.copysign(np.inf, c)
    # of an infinite number only the directions count
    a1 = _direction(a)
    b1 = _direction(b)
    c1 = _direction(c)
    d1 = _direction(d)
    real = [infinity * a, np.inf * (a1 * c + b1 * d), 0 * (a * c1 + b * d1)]
    imag = [infinity * b, np.inf * (b1 * c - a1 * d), 0 * (b * c1 - a * d1)]
    z.real[lost] = np.select(cases, real, z.real[lost])
    z.imag[lost] = np.select(cases, imag, z.imag[lost])
    return z


def _direction(part: np.ndarray) -> np.ndarray:
    """1 or -1 for infinite parts, a zero of either sign for others."""
    return np.copysign(np.isinf(part).astype(part.dtype), part)
