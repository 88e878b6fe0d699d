"""Elementwise functions that Paddle computes by several operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files.builder_helpers import cast
from paddle_jax.framework.model_files.decompositions import is_empty
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.records import Lowering
from paddle_jax.static.nn import while_loop
from paddle_jax.tensor.special import gammaincc

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.framework.model_files.builder import Builder, Value


def to_dtype(w: Any, a: Any, out: Any, x: Any) -> Any:
    """As cast."""
    return cast(w, x, out[0][0])


def _is_complex(x: Tensor) -> bool:
    return numpy_dtype(x).kind == "c"


def _is_whole(x: Any) -> bool:
    return numpy_dtype(x).kind in "iub"


def zero_like(x: Any) -> Any:
    """A number 0 that is broadcast against x."""
    return P.full([], 0, x.dtype)


def _signbit(a: Any, x: Any) -> Any:
    if _is_whole(x):
        return x < 0
    return P.copysign(P.ones_like(x), x) < 0  # of -0.0, too


def _signed_infinity(sign: int) -> Callable[..., Any]:
    def decompose(a: Any, x: Any) -> Any:
        if _is_whole(x):
            return P.full_like(x, False, "bool")
        return P.logical_and(P.isinf(x), x > 0 if sign > 0 else x < 0)

    return decompose


def _isreal(a: Any, x: Any) -> Any:
    if _is_complex(x):
        return P.imag(x) == 0
    return P.full_like(x, True, "bool")


def _sinc(a: Any, x: Any) -> Any:
    if _is_complex(x):
        return None
    angle = x * math.pi
    is_zero = x == 0
    return P.where(is_zero, P.ones_like(x), P.sin(angle) / P.where(is_zero, P.ones_like(x), angle))


def _write_sgn(w: Builder, a: Any, out: Sequence[Any], x: Value) -> Any:
    if x.dtype.startswith("complex"):
        raise NotWritable("sgn of complex numbers has no form in PIR")
    return w.op("sign", [x], out[0])


def _sgn(a: Any, x: Tensor) -> Any:
    if not _is_complex(x):
        return None
    length = P.abs(x)
    divisor = P.where(length == 0, P.ones_like(length), length)
    return P.complex(P.real(x) / divisor, P.imag(x) / divisor)


def _ldexp(a: Any, x: Any, y: Any) -> Any:
    if "float64" in (numpy_dtype(x).name, numpy_dtype(y).name):
        dtype = "float64"
    else:
        dtype = "float32"
    exponent = P.cast(y, dtype)
    return P.cast(x, dtype) * P.pow(P.full_like(exponent, 2), exponent)


def _frexp(a: Any, x: Any) -> tuple[Any, Any]:
    two = P.full([], 2, x.dtype)
    is_plain = P.logical_and(P.isfinite(x), x != 0)
    size = P.where(is_plain, P.abs(x), P.ones_like(x))
    exponent = P.floor(P.log2(size)) + 1
    share = size / P.pow(two, exponent - 1) / 2  # 2**128 would not be finite
    # a rounded logarithm
    is_large = share >= 1
    # A rounded logarithm may be off by one.
    is_small = share < 0.5
    exponent = exponent + P.cast(is_large, x.dtype) - P.cast(is_small, x.dtype)
    share = P.where(is_large, share / 2, P.where(is_small, share * 2, share))
    mantissa = P.where(x < 0, -share, share)
    return P.where(is_plain, mantissa, x), P.where(is_plain, exponent, P.zeros_like(x))


def _gcd(a: Any, x: Any, y: Any) -> Any:
    if _is_whole(x):
        x = P.abs(x)
        y = P.abs(y)
    x, y = P.broadcast_tensors([x, y])

    # Euclid's algorithm for all elements at once: those that are done stay.
    def step(high: Any, low: Any) -> Any:
        is_done = low == 0
        rest = P.remainder(high, P.where(is_done, P.ones_like(low), low))
        return [P.where(is_done, high, low), P.where(is_done, low, rest)]

    return while_loop(lambda high, low: P.any(low != 0), step, [x, y])[0]


def _lcm(a: Any, x: Any, y: Any) -> Any:
    divisor = P.gcd(x, y)
    is_zero = divisor == 0
    # The quotient first: the product of both could overflow.
    share = P.floor_divide(P.abs(y), P.where(is_zero, P.ones_like(divisor), divisor))
    return P.abs(x) * share


def _lower_gamma(a: Any, x: Any, y: Any) -> Any:
    return 1 - gammaincc(x, y)


def _multigammaln(a: Any, x: Any) -> Any:
    # Multivariate gamma function: the sum of lgamma(x - i / 2), and the constant of dimension p.
    shifts = P.to_tensor(np.arange(a.p) / 2, x.dtype)
    terms = P.lgamma(P.unsqueeze(x, -1) - shifts)
    return P.sum(terms, -1) + a.p * (a.p - 1) / 4 * math.log(math.pi)


def _polar(a: Any, size: Any, angle: Any) -> Any:
    return P.complex(size * P.cos(angle), size * P.sin(angle))


def _isin(a: Any, x: Any, values: Any) -> Any:
    if is_empty(values):
        found = P.full_like(x, False, "bool")
    else:
        row = P.reshape(values, [1] * x.ndim + [-1])
        found = P.any(P.unsqueeze(x, -1) == row, -1)
    if a.invert:
        return P.logical_not(found)
    return found


convert: Lowering = Lowering(to_dtype)
signbit: Lowering = Lowering(decompose=_signbit)
isreal: Lowering = Lowering(decompose=_isreal)
sinc: Lowering = Lowering(decompose=_sinc)
sgn: Lowering = Lowering(_write_sgn, decompose=_sgn)
isposinf: Lowering = Lowering(decompose=_signed_infinity(1))
isneginf: Lowering = Lowering(decompose=_signed_infinity(-1))
ldexp: Lowering = Lowering(decompose=_ldexp)
frexp: Lowering = Lowering(decompose=_frexp)
gcd: Lowering = Lowering(decompose=_gcd)
lcm: Lowering = Lowering(decompose=_lcm)
lower_gamma: Lowering = Lowering(decompose=_lower_gamma)
multigammaln: Lowering = Lowering(decompose=_multigammaln)
polar: Lowering = Lowering(decompose=_polar)
isin: Lowering = Lowering(decompose=_isin)
