"""Special functions: SciPy's in float64, rounded once; XLA evaluates them in the operand's precision, so its
last bits are the worse ones."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.rules import Avals, Params, Run, rule


def _scipy(name: str, *primitives: Any) -> None:
    @rule(*primitives)
    def build(params: Params, ins: Avals, outs: Avals) -> Run:
        import scipy.special

        function = getattr(scipy.special, name)
        dtype = outs[0].dtype
        # SciPy computes in float64, so there is one rounding at the end.
        return lambda *operands: np.asarray(function(*[x.astype(np.float64) for x in operands])).astype(dtype)


for _name, _primitive in (("i0e", "bessel_i0e"), ("betainc", "regularized_incomplete_beta")):
    _scipy(_name, _primitive)


def _in_double(primitive: Any) -> Any:
    """Registers a function of float64 arrays."""

    def register(function: Any) -> Any:
        @rule(primitive)
        def build(params: Params, ins: Avals, outs: Avals) -> Run:
            dtype = outs[0].dtype
            return lambda *operands: np.asarray(
                function(*[np.asarray(x).astype(np.float64) for x in operands])
            ).astype(dtype)

        return function

    return register


@_in_double("bessel_i1e")
def _i1e(x: np.ndarray) -> Any:
    from scipy.special import i1e

    return np.where(x == 0, x, i1e(x))


@_in_double("lgamma")
def _lgamma(x: np.ndarray) -> Any:
    from scipy.special import gammaln

    return np.where(np.isinf(x), np.inf, gammaln(x))


@functools.cache
def _digamma_of_zero() -> Any:
    """NaN or minus infinity, as this version of XLA has it: asked once, when a zero is met."""
    import jax

    cpu = jax.sharding.SingleDeviceSharding(jax.local_devices(backend="cpu")[0])
    zero = jax.ShapeDtypeStruct((), np.float32, sharding=cpu)
    # no mode to set, so it works inside a trace
    return float(jax.jit(jax.lax.digamma).lower(zero).compile()(np.float32(0)))


@_in_double("digamma")
def _digamma(x: np.ndarray) -> Any:
    from scipy.special import psi

    is_pole = (x <= 0) & (x == np.floor(x))
    y = np.where(is_pole, np.nan, psi(x))
    zero = x == 0
    if zero.any():
        return np.where(zero, _digamma_of_zero(), y)
    return y


@_in_double("polygamma")
def _polygamma(n: int, x: np.ndarray) -> Any:
    from scipy.special import gamma, zeta

    odd = n % 2 == 1
    is_pole = (x <= 0) & (x == np.floor(x))
    lost = np.isposinf(x) | is_pole & ~odd  # XLA's reflection formula ends in NaN there
    sign = np.where(odd, 1.0, -1.0)
    y = np.where(lost, np.nan, sign * gamma(n + 1) * zeta(n + 1, x))
    is_order = (n >= 0) & (n == np.floor(n))
    return np.where(is_order, np.where(n == 0, _digamma(x), y), np.nan)


@_in_double("zeta")
def _zeta(x: np.ndarray, q: Any) -> Any:
    from scipy.special import zeta

    return zeta(x, q)


@_in_double("igamma")
def _igamma(a: np.ndarray, x: np.ndarray) -> Any:
    from scipy.special import gammainc

    return np.where((a < 0) | (x < 0), np.nan, gammainc(a, x))


@_in_double("igammac")
def _igammac(a: np.ndarray, x: np.ndarray) -> Any:
    from scipy.special import gammaincc

    is_outside = (a < 0) | (x < 0)
    at_infinity = np.isinf(x) & ~np.isnan(a)
    return np.where(is_outside, np.nan, np.where(at_infinity, 0.0, gammaincc(a, x)))


# erf(x) / x as a quotient of polynomials in x^2, highest power first. They were fitted by least squares for
# |x| <= 4. The relative error is below 1e-11, so a result in float32 is nearly always the nearest one.
ERF_NUMERATOR = (
    3.0112204312560534e-09,
    7.50068242400716e-07,
    2.159043374830737e-05,
    0.0005111449829801958,
    0.004935237582488878,
    0.058027762234594764,
    0.19978699287817636,
    1.1283791670868086,
)
ERF_DENOMINATOR = (
    7.327634067119665e-08,
    4.4850714702247675e-06,
    0.00011085889272942547,
    0.001707560994192208,
    0.017662842403872406,
    0.12155575023563821,
    0.5103899454119503,
    1.0,
)
_ERF_IS_ONE = 4.0  # erf of larger numbers is 1 in float32
_BLOCK = 1 << 14  # elements whose intermediate results fit into the cache of the processor
_PYTHONS = 200_000  # elements: SciPy takes 0.1 s to import, Python's `erf` about 0.1 us for an element
_spent = [0]


@rule("erf")
def _erf(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = outs[0].dtype
    if dtype == np.float64:
        return _of_python("erf", math.erf, dtype)
    return lambda x: _by_blocks(_erf_of_doubles, x, dtype)


def _by_blocks(compute: Callable[[np.ndarray], np.ndarray], x: Any, dtype: np.dtype) -> np.ndarray:
    """A function of numbers of at most float32, computed in float64.

    Args:
        compute: the function of a block of float64, which it may write into.
        x: the numbers.
        dtype: that of the result.
    """
    x = np.asarray(x)
    flat = x.reshape(-1)
    result = np.empty(flat.shape, dtype)
    for start in range(0, flat.size, _BLOCK):
        result[start : start + _BLOCK] = compute(flat[start : start + _BLOCK].astype(np.float64))
    return result.reshape(x.shape)


def _erf_of_doubles(x: np.ndarray) -> np.ndarray:
    np.clip(x, -_ERF_IS_ONE, _ERF_IS_ONE, out=x)
    square = x * x
    x *= _polynomial(ERF_NUMERATOR, square)
    x /= _polynomial(ERF_DENOMINATOR, square)
    return x


def _polynomial(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    """The value of a polynomial whose coefficients start at the highest power."""
    y = x * coefficients[0]
    y += coefficients[1]
    for coefficient in coefficients[2:]:
        y *= x
        y += coefficient
    return y


# erfc(x) exp(x^2) (1 + 2 x) for x >= 0 as a polynomial in (x - c) / (x + c), highest power first. It was
# fitted by least squares for x <= 12. The relative error is below 1e-11.
ERFC_COEFFICIENTS = (
    3.274643956007065e-05,
    4.4424317099153264e-05,
    -0.00030206460668860446,
    0.0002941581672575032,
    0.0017608041883950228,
    -0.009745895591960369,
    0.028361163165641336,
    -0.058693594316183755,
    0.0923044442924822,
    -0.1088039110926204,
    0.08227673222764424,
    0.0035854148855363264,
    -0.1402405984877155,
    1.2375126308405209,
)
_ERFC_CENTER = 3.75
_ERFC_IS_ZERO = 12.0  # erfc of larger numbers is 0 in float32


@rule("erfc")
def _erfc(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = outs[0].dtype
    if dtype == np.float64:
        return _of_python("erfc", math.erfc, dtype)
    return lambda x: _by_blocks(_erfc_of_doubles, x, dtype)


def _erfc_of_doubles(x: np.ndarray) -> np.ndarray:
    size = np.minimum(np.abs(x), _ERFC_IS_ZERO)
    value = _polynomial(ERFC_COEFFICIENTS, (size - _ERFC_CENTER) / (size + _ERFC_CENTER))
    value /= 1 + 2 * size
    size *= size
    value *= np.exp(-size)
    return np.where(x < 0, 2 - value, value)


def _of_python(name: str, python: Any, dtype: np.dtype) -> Run:
    """The first elements by Python: a program that needs it for a few numbers does without SciPy."""

    def compute(x: np.ndarray) -> Any:
        x = np.asarray(x)
        _spent[0] += x.size
        if _spent[0] > _PYTHONS:
            import scipy.special

            return np.asarray(getattr(scipy.special, name)(x.astype(np.float64))).astype(dtype)
        numbers = [*map(python, x.ravel().tolist())]
        return np.array(numbers, np.float64).reshape(x.shape).astype(dtype)

    return compute


# M. Giles, Approximating the erfinv function (2012), table 1: polynomials in w - 2.5 and sqrt(w) - 3 for w =
# -log(1 - x^2), highest power first
NEAR = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
FAR = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)


@rule("erf_inv")
def _erf_inv(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = outs[0].dtype
    if dtype == np.float64:
        from scipy.special import erfinv

        return lambda x: np.where(x == 0, x, erfinv(x))
    return lambda x: _giles(x.astype(np.float32, copy=False)).astype(dtype, copy=False)


def _giles(x: np.ndarray) -> Any:
    """The inverse error function in float32, by the polynomials that XLA uses."""
    near = np.array(NEAR, np.float32)
    far = np.array(FAR, np.float32)
    w = -np.log1p(-x * x)
    small = w < np.float32(5)
    w = np.where(small, w - np.float32(2.5), np.sqrt(w) - np.float32(3))
    p = np.where(small, near[0], far[0])
    for a, b in zip(near[1:], far[1:], strict=True):
        p = np.where(small, a, b) + p * w
    return np.where(np.abs(x) == 1, x * np.float32(np.inf), p * x)
