"""Special functions: error function, gamma family, Bessel functions. Integers are taken as float32."""

import math

import jax
import jax.numpy as jnp
from jax.scipy import special as sp

from paddle_jax._core.op import op
from paddle_jax.tensor.ops import as_float

REAL = ["f(2,3)", "d(3)", "f()", "f(0,3)", "i(3)"]
POSITIVE = ["pos(2,3)", "pos_d(3)", "pos()", "f(0,3)", "pos_i(3)"]


@op(inplace=True, cases=[*REAL, "h(3)"])
def erf(x, name=None):
    """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.erf(paddle.to_tensor(1.0)).item(), 4)
        0.8427
    """
    return sp.erf(as_float(x))


@op(inplace=True, cases=["u(-0.9, 0.9, 2, 3)", "ud(-0.9, 0.9, 3)", "const([1.0, -1.0, 0.0], 'float32')", "f(0)", "u(-0.5, 0.5)"])
def erfinv(x, name=None):
    """The inverse of `erf`; infinite at -1 and 1.

    Args:
        x: Tensor [...] in -1..1; integers are taken as float32.
    Example:
        >>> round(paddle.erfinv(paddle.to_tensor(0.5)).item(), 4)
        0.4769
    """
    return sp.erfinv(as_float(x))


@op(inplace=True, cases=[*POSITIVE, "u(-2.9, -2.1, 3)"])
def digamma(x, name=None):
    """The derivative of the logarithm of the gamma function. Arguments as for `lgamma`.

    Example:
        >>> round(paddle.digamma(paddle.to_tensor(1.0)).item(), 4)
        -0.5772
    """
    return sp.digamma(as_float(x))


@op(inplace=True, cases=[*POSITIVE, "u(-2.9, -2.1, 3)", "~const([0.0, -1.0], 'float32')"])  # at poles only the value is defined
def lgamma(x, name=None):
    """The logarithm of the absolute value of the gamma function.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Example:
        >>> round(paddle.lgamma(paddle.to_tensor(5.0)).item(), 4)
        3.1781
    """
    return sp.gammaln(as_float(x))


@op(inplace=True, cases=["pos(2,3)", "pos_d(3)", "pos()", "f(0,3)"])
def gammaln(x, name=None):
    """The logarithm of the absolute value of the gamma function, as `lgamma`.

    Example:
        >>> round(paddle.gammaln(paddle.to_tensor(5.0)).item(), 4)
        3.1781
    """
    return sp.gammaln(as_float(x))


@op(inplace=True, cases=["u(2.5, 5.0, 3), 2", "ud(3.0, 5.0, 2, 2), 4", "pos(3), 1", "u(2.5, 5.0, 3), -1", "f(0), 2"])
def multigammaln(x, p, name=None):
    """The logarithm of the multivariate gamma function of dimension p.

    Args:
        x: floating Tensor [...].
        p: int >= 1.
    Raises:
        AssertionError: p is smaller than 1.
    Example:
        >>> round(paddle.multigammaln(paddle.to_tensor(2.5), 2).item(), 4)
        0.857
    See:
        p (p - 1) / 4 log(pi) + sum_j lgamma(x - j / 2), j = 0..p-1.
    """
    if p < 1:
        raise AssertionError(f"multigammaln: p: got {p}; it must be at least 1")
    shifts = jnp.arange(p, dtype=x.dtype) / 2
    return jnp.sum(sp.gammaln(x[..., None] - shifts), -1) + p * (p - 1) / 4 * math.log(math.pi)


@op(inplace=True, cases=["pos(2,3), 0", "pos(3), 1", "pos_d(3), 2", "f(0), 1", "pos_i(3), 1", "pos(2), -1", "pos(2), 1.0", "pos(), 3"])
def polygamma(x, n, name=None):
    """The n-th derivative of `digamma`.

    Args:
        x: Tensor [...]; integers are taken as float32.
        n: int >= 0.
    Raises:
        ValueError: n is negative.
        TypeError: n is not an int.
    Example:
        >>> round(paddle.polygamma(paddle.to_tensor(1.0), 1).item(), 4)
        1.6449
    """
    if not isinstance(n, int):
        raise TypeError(f"polygamma: n: got {n!r}; it must be an int")
    if n < 0:
        raise ValueError(f"polygamma: n: got {n}; it must not be negative")
    x = as_float(x)
    return sp.digamma(x) if n == 0 else sp.polygamma(n, x)


@op("x y", inplace=True, cases=["paddle.to_tensor([0.5, 1.0, 2.0]), pos(3)", "pos(3), pos(3)", "pos_d(2,3), pos_d(2,3)", "pos(), pos()",
                                "f(0), f(0)"])
def gammainc(x, y, name=None):
    """The regularized lower incomplete gamma function P(x, y). Only y gets a gradient.

    Args:
        x: positive floating Tensor [...], the parameter.
        y: positive Tensor of the same dtype, the upper end of the integral.
    Example:
        >>> round(paddle.gammainc(paddle.to_tensor(0.5), paddle.to_tensor(1.0)).item(), 4)
        0.8427
    """
    return sp.gammainc(jax.lax.stop_gradient(x), y)


@op("x y", inplace=True, cases=["paddle.to_tensor([0.5, 1.0, 2.0]), pos(3)", "pos(3), pos(3)", "pos_d(2,3), pos_d(2,3)", "pos(), pos()",
                                "f(0), f(0)"])
def gammaincc(x, y, name=None):
    """The regularized upper incomplete gamma function Q(x, y) = 1 - P(x, y). Arguments as for `gammainc`.

    Example:
        >>> round(paddle.gammaincc(paddle.to_tensor(0.5), paddle.to_tensor(1.0)).item(), 4)
        0.1573
    """
    return sp.gammaincc(jax.lax.stop_gradient(x), y)


@op(inplace=True, cases=REAL)
def i0(x, name=None):
    """The modified Bessel function of the first kind, order 0.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Example:
        >>> round(paddle.i0(paddle.to_tensor(1.0)).item(), 4)
        1.2661
    """
    return sp.i0(as_float(x))


@op(cases=REAL)
def i0e(x, name=None):
    """exp(-|x|) times `i0`: the exponentially scaled Bessel function of order 0.

    Example:
        >>> round(paddle.i0e(paddle.to_tensor(1.0)).item(), 4)
        0.4658
    """
    return sp.i0e(as_float(x))


@op(cases=REAL)
def i1(x, name=None):
    """The modified Bessel function of the first kind, order 1.

    Example:
        >>> round(paddle.i1(paddle.to_tensor(1.0)).item(), 4)
        0.5652
    """
    return sp.i1(as_float(x))


@op(cases=REAL)
def i1e(x, name=None):
    """exp(-|x|) times `i1`: the exponentially scaled Bessel function of order 1.

    Example:
        >>> round(paddle.i1e(paddle.to_tensor(1.0)).item(), 4)
        0.2079
    """
    return sp.i1e(as_float(x))
