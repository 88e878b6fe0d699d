"""Special functions: error function, gamma family, Bessel functions. Integers are taken as float32."""

from __future__ import annotations

import functools as ft
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as sp

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import check_equal_dtypes, composite, op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor import incomplete_gamma
from paddle_jax.tensor.axes import concrete
from paddle_jax.tensor.bessel import bessel
from paddle_jax.tensor.inner import named
from paddle_jax.tensor.lowering import copy_sign, has_float64
from paddle_jax.tensor.ops import as_float

REAL = ["f(2,3)", "d(3)", "f()", "f(0,3)", "i(3)"]
POSITIVE = ["pos(2,3)", "pos_d(3)", "pos()", "f(0,3)", "pos_i(3)"]


def _digits(fn: Any, *xs: Any) -> jax.Array:
    """fn in float64 where the device has it: XLA's float32 routines of the gamma family lose up to all digits
    near their zeros."""
    if xs[0].dtype == jnp.float64 or not has_float64():
        return fn(*xs)
    return fn(*[x.astype(jnp.float64) for x in xs]).astype(xs[0].dtype)


@jax.custom_jvp
def _lgamma(x: jax.Array) -> jax.Array:
    return _digits(sp.gammaln, x)


_lgamma.defjvps(lambda t, _, x: t * _polygamma(0, x))


@ft.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _polygamma(n: int, x: jax.Array) -> jax.Array:
    """Derivatives of digamma on the whole real line. XLA's zeta function knows positive arguments only; the
    rest comes by reflection: psi_n(x) = (-1)^n psi_n(1 - x) - d^n/dx^n (pi cot(pi x)), and the n-th
    derivative of the cotangent is a polynomial of it."""
    return _digits(ft.partial(_reflected, n) if n else _digamma, x)


@_polygamma.defjvp
def _polygamma_tangent(
    n: int, primals: Sequence[jax.Array], tangents: Sequence[jax.Array]
) -> tuple[Any, Any]:
    return _polygamma(n, *primals), tangents[0] * _polygamma(n + 1, *primals)


def _digamma(x: jax.Array) -> jax.Array:
    return jnp.where(x == 0, -copy_sign(jnp.asarray(jnp.inf, x.dtype), x), sp.digamma(x))


def _reflected(n: int, x: jax.Array) -> jax.Array:
    cot = np.polynomial.Polynomial([0, 1])
    for _ in range(n):
        # The derivative of cot is -(1 + cot^2): each further one is a polynomial in cot.
        cot = -cot.deriv() * np.polynomial.Polynomial([1, 0, 1])
    low = x < 0
    # The cotangent has period pi; near zero more digits are left.
    part = (x - jnp.round(x)) * math.pi
    # The limit at infinity, where XLA gives NaN.
    mirrored = jnp.where(x == jnp.inf, 0, sp.polygamma(n, jnp.where(low, 1 - x, x)))
    value = (-1) ** n * mirrored - math.pi ** (n + 1) * jnp.polyval(
        jnp.asarray(cot.coef[::-1], x.dtype), 1 / jnp.tan(part)
    )
    # Zero and the negative whole numbers.
    pole = (x <= 0) & (x == jnp.floor(x)) & jnp.isfinite(x)
    return jnp.where(pole, (-1) ** (n + 1) * jnp.inf, jnp.where(low, value, mirrored)).astype(x.dtype)


@known_as(pir="erf", onnx="Erf")
@op(inplace=True, cases=[*REAL, "h(3)"])
def erf(x: jax.Array, name: str | None = None) -> jax.Array:
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


@known_as(pir="erfinv")
@op(
    inplace=True,
    cases=[
        "u(-0.9, 0.9, 2, 3)",
        "ud(-0.9, 0.9, 3)",
        "const([1.0, -1.0, 0.0], 'float32')",
        "f(0)",
        "u(-0.5, 0.5)",
    ],
)
def erfinv(x: jax.Array, name: str | None = None) -> jax.Array:
    """The inverse of `erf`; infinite at -1 and 1.

    Args:
        x: Tensor [...] in -1..1; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.erfinv(paddle.to_tensor(0.5)).item(), 4)
        0.4769
    """
    return sp.erfinv(as_float(x))


@known_as(pir="digamma")
@op(inplace=True, cases=[*POSITIVE, "u(-2.9, -2.1, 3)"])
def digamma(x: jax.Array, name: str | None = None) -> jax.Array:
    """The derivative of the logarithm of the gamma function.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.digamma(paddle.to_tensor(1.0)).item(), 4)
        -0.5772
    """
    return _polygamma(0, as_float(x))


@known_as(pir="lgamma")
# at poles only the value is defined
@op(inplace=True, cases=[*POSITIVE, "u(-2.9, -2.1, 3)", "~const([0.0, -1.0], 'float32')"])
def lgamma(x: jax.Array, name: str | None = None) -> jax.Array:
    """The logarithm of the absolute value of the gamma function.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.lgamma(paddle.to_tensor(5.0)).item(), 4)
        3.1781
    """
    return _lgamma(as_float(x))


@known_as(pir="gammaln")
@op(inplace=True, cases=["pos(2,3)", "pos_d(3)", "pos()", "f(0,3)"])
def gammaln(x: jax.Array, name: str | None = None) -> jax.Array:
    """The logarithm of the absolute value of the gamma function, as `lgamma`.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.gammaln(paddle.to_tensor(5.0)).item(), 4)
        3.1781
    """
    return _lgamma(as_float(x))


@known_as(code="elementwise:multigammaln")
@op(
    inplace=True,
    cases=[
        "u(2.5, 5.0, 3), 2",
        "ud(3.0, 5.0, 2, 2), 4",
        "pos(3), 1",
        "u(2.5, 5.0, 3), -1",
        "f(0), 2",
        "pos_i(2), 1",
    ],
)
def multigammaln(x: jax.Array, p: Any, name: str | None = None) -> jax.Array:
    """The logarithm of the multivariate gamma function of dimension p.

    Args:
        x: floating Tensor [...].
        p: int >= 1.
    Returns:
        Tensor of the same shape.
    Raises:
        TypeError: x is not floating.
        AssertionError: p is smaller than 1.
    Example:
        >>> round(paddle.multigammaln(paddle.to_tensor(2.5), 2).item(), 4)
        0.857
    See:
        p (p - 1) / 4 log(pi) + sum_j lgamma(x - j / 2), j = 0..p-1.
    """
    if not jnp.issubdtype(x.dtype, jnp.floating):
        raise TypeError(f"multigammaln: x: got {x.dtype}; it must be floating")
    if p < 1:
        raise AssertionError(f"multigammaln: p: got {p}; it must be at least 1")
    # log pi^(p (p - 1) / 4) plus the sum of lgamma(x - j / 2) for j below p.
    shifts = jnp.arange(p, dtype=x.dtype) / 2
    return jnp.sum(_lgamma(x[..., None] - shifts), -1) + p * (p - 1) / 4 * math.log(math.pi)


@known_as(pir="polygamma n:i32", code="arithmetic:polygamma")
@op(
    inplace=True,
    cases=[
        "u(-2.9, -2.1, 3), 1",
        "ud(-1.9, -1.1, 3), 2",
        "pos(2,3), 0",
        "pos(3), 1",
        "pos_d(3), 2",
        "f(0), 1",
        "pos_i(3), 1",
        "pos(2), -1",
        "pos(2), 1.0",
        "pos(), 3",
    ],
)
def polygamma(x: jax.Array, n: Any, name: str | None = None) -> jax.Array:
    """The n-th derivative of `digamma`.

    Args:
        x: Tensor [...]; integers are taken as float32.
        n: int >= 0.
    Returns:
        Tensor of the same shape.
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
    return _polygamma(n, as_float(x))


_P, _Q = incomplete_gamma.functions(_lgamma, _polygamma)


def _incomplete(op: str, function: Callable[..., Any], x: Tensor, y: Tensor | float) -> Tensor:
    """The inner op `function` on operands that are checked where their values are known."""
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        check_equal_dtypes(op, x, y)
    for name, value in (("x", x), ("y", y)):
        known = concrete(value) if isinstance(value, Tensor) else None
        if known is not None and not (known >= 0).all():
            raise ValueError(f"{op}: {name}: got a negative number or NaN; all elements must be >= 0")
    return function(x, y)


@known_as(code="elementwise:lower_gamma")
@op("x y", register=False, method=False)
@named("gammainc")
def _lower(x: jax.Array, y: jax.Array) -> jax.Array:
    return _digits(_P, x, y)


@known_as(pir="gammaincc(x,y)")
@op("x y", register=False, method=False)
@named("gammaincc")
def _upper(x: jax.Array, y: jax.Array) -> jax.Array:
    return _digits(_Q, x, y)


# the oracle gives x no gradient
INCOMPLETE = [
    "paddle.to_tensor([0.5, 1.0, 2.0]), pos(3)",
    "~pos(3), pos(3)",
    "~pos_d(2,3), pos_d(2,3)",
    "~pos(), pos()",
    "f(0), f(0)",
    "const([-1.0]), const([1.0])",
    "pos(2), 1.0",
]


@composite(inplace=True, cases=INCOMPLETE)
def gammainc(x: Tensor, y: Any, name: str | None = None) -> Tensor:
    """The regularized lower incomplete gamma function P(x, y).

    Args:
        x: positive floating Tensor [...], the parameter.
        y: positive Tensor of the same dtype, the upper end of the integral.
    Returns:
        Tensor of the broadcast shape.
    Raises:
        ValueError: an element of x or y is negative or NaN (not looked at under a JAX trace).
    Example:
        >>> round(paddle.gammainc(paddle.to_tensor(0.5), paddle.to_tensor(1.0)).item(), 4)
        0.8427
    """
    return _incomplete("gammainc", _lower, x, y)


@known_as(pir="gammaincc")
@composite(inplace=True, cases=INCOMPLETE)
def gammaincc(x: Tensor, y: Any, name: str | None = None) -> Tensor:
    """The regularized upper incomplete gamma function Q(x, y) = 1 - P(x, y).

    Args:
        x: positive floating Tensor [...], the parameter.
        y: positive Tensor of the same dtype, the upper end of the integral.
    Returns:
        Tensor of the broadcast shape.
    Example:
        >>> round(paddle.gammaincc(paddle.to_tensor(0.5), paddle.to_tensor(1.0)).item(), 4)
        0.1573
    """
    return _incomplete("gammaincc", _upper, x, y)


@known_as(pir="i0")
@op(inplace=True, cases=[*REAL, "const([0.0, -2.0], 'float32')"])
def i0(x: jax.Array, name: str | None = None) -> jax.Array:
    """The modified Bessel function of the first kind, order 0.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.i0(paddle.to_tensor(1.0)).item(), 4)
        1.2661
    """
    return bessel(0, False, 0, as_float(x))


@known_as(pir="i0e")
@op(cases=REAL)
def i0e(x: jax.Array, name: str | None = None) -> jax.Array:
    """exp(-|x|) times `i0`: the exponentially scaled Bessel function of order 0.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.i0e(paddle.to_tensor(1.0)).item(), 4)
        0.4658
    """
    return bessel(0, True, 0, as_float(x))


@known_as(pir="i1")
@op(cases=REAL)
def i1(x: jax.Array, name: str | None = None) -> jax.Array:
    """The modified Bessel function of the first kind, order 1.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.i1(paddle.to_tensor(1.0)).item(), 4)
        0.5652
    """
    return bessel(1, False, 0, as_float(x))


@known_as(pir="i1e")
@op(cases=REAL)
def i1e(x: jax.Array, name: str | None = None) -> jax.Array:
    """exp(-|x|) times `i1`: the exponentially scaled Bessel function of order 1.

    Args:
        x: Tensor [...]; integers are taken as float32.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.i1e(paddle.to_tensor(1.0)).item(), 4)
        0.2079
    """
    return bessel(1, True, 0, as_float(x))


@known_as(pir="stanh scale_a:f32 scale_b:f32", onnx="Mul(Tanh(Mul(x, scale_a)), scale_b)")
@op(cases=["f(2,3)", "d(3)", "i(3)", "c(3)", "f(3), 0.5, 1.5", "f(0,3)"])
def stanh(x: jax.Array, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> jax.Array:
    """scale_b * tanh(scale_a * x).

    Args:
        x: Tensor [...]; integers are taken as float32.
        scale_a, scale_b: numbers.
    Returns:
        Tensor of the same shape.
    Example:
        >>> round(paddle.stanh(paddle.to_tensor(1.0)).item(), 4)
        1.0038
    """
    return scale_b * jnp.tanh(scale_a * as_float(x))


@known_as(pir="logit eps:f64?=0.0")
@op(
    inplace=True,
    cases=[
        "u(0.1, 0.9, 2, 3)",
        "ud(0.1, 0.9, 3)",
        "u(-0.5, 1.5, 5), 0.2",
        "const([0.0, 0.5, 1.0], 'float32')",
        "i(3)",
        "f(0,3)",
    ],
)
def logit(x: jax.Array, eps: Any = None, name: str | None = None) -> jax.Array:
    """log(x / (1 - x)), the inverse of sigmoid.

    Args:
        x: Tensor [...]; integers are taken as float32. NaN outside [0, 1].
        eps: number; x is first brought into [eps, 1 - eps]. None or 0: x is taken as it is.
    Returns:
        Tensor of the same shape.
    Example:
        >>> paddle.logit(paddle.to_tensor(0.5)).item()
        0.0
    """
    x = as_float(x)
    if eps:
        x = jnp.where(x < eps, eps, jnp.where(x > 1 - eps, 1 - eps, x))
    x = x * jnp.where((x < 0) | (x > 1), jnp.nan, 1).astype(x.dtype)  # NaN for the gradient too
    return jnp.log(x) - jnp.log1p(-x)
