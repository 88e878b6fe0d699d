"""Complex numbers: joined and taken apart, and their functions with XLA's branch cuts.

XLA counts a zero of either sign as positive on most branch cuts. complex64 is computed in
complex128 and rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.rules import Avals, Params, Refusal, Run, rule

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
        z = np.empty(shape, dtype)
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
        x = x.astype(np.complex128, copy=False)
        return ufunc(x + 0 if cut else x).astype(dtype, copy=False)  # -0.0 + 0 is 0.0

    return function


def _log1p(z: np.ndarray) -> Any:
    x = z.real
    y = z.imag
    w = np.asarray(np.log1p(z))
    near = np.abs(z) < 0.5
    return np.where(near, 0.5 * np.log1p(x * (2 + x) + y * y) + 1j * w.imag, w)


def complex_square(x: np.ndarray) -> Any:
    """The square without the remainder that a fused multiply-add would leave in (a + ai)^2."""
    a = x.real
    b = x.imag
    z = np.empty(np.shape(x), x.dtype)
    z.real, z.imag = (a - b) * (a + b), 2 * a * b
    return z


def complex_quotient(dtype: np.dtype) -> Any:
    """Division with C99's results (annex G) where infinities or a divisor of zero leave NaN."""

    def divide(x: np.ndarray, y: np.ndarray) -> Any:
        z = np.asarray(np.divide(x, y))
        lost = (y == 0) | np.isnan(z.real) & np.isnan(z.imag)
        if not lost.any():
            return z
        return _repaired(z, *np.broadcast_arrays(x, y), lost).astype(dtype, copy=False)

    return divide


def _repaired(z: np.ndarray, x: np.ndarray, y: np.ndarray, lost: Any) -> Any:
    z = np.array(z)
    a = x.real[lost]
    b = x.imag[lost]
    c = y.real[lost]
    d = y.imag[lost]
    real = z.real[lost]
    imag = z.imag[lost]
    zero = (c == 0) & (d == 0) & ~(np.isnan(a) & np.isnan(b))
    huge = np.isinf(a) | np.isinf(b)
    far = np.isinf(c) | np.isinf(d)
    over = huge & np.isfinite(c) & np.isfinite(d) & ~zero
    under = far & np.isfinite(a) & np.isfinite(b)
    a1, b1 = (np.copysign(np.isinf(v).astype(v.dtype), v) for v in (a, b))
    c1, d1 = (np.copysign(np.isinf(v).astype(v.dtype), v) for v in (c, d))
    infinity = np.copysign(np.inf, c)
    cases = [zero, over, under]
    z.real[lost] = np.select(cases, [infinity * a, np.inf * (a1 * c + b1 * d), 0 * (a * c1 + b * d1)], real)
    z.imag[lost] = np.select(cases, [infinity * b, np.inf * (b1 * c - a1 * d), 0 * (b * c1 - a * d1)], imag)
    return z
