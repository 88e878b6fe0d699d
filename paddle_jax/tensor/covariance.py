"""Covariances and correlations of variables."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.axes import concrete
from paddle_jax.tensor.inner import named


def _weights(name: str, weights: jax.Array, n: int) -> None:
    if weights.ndim != 1 or weights.shape[0] != n:
        raise ValueError(f"cov: {name}: got shape {list(weights.shape)}; it must be [{n}]")


def _covariance(
    name: str,
    x: jax.Array,
    rowvar: bool,
    ddof: bool,
    fweights: jax.Array | None = None,
    aweights: jax.Array | None = None,
) -> jax.Array:
    if x.ndim not in (1, 2):
        raise ValueError(f"{name}: x: got {x.ndim} axes; allowed are 1 and 2")
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        raise TypeError(f"{name}: x: got {x.dtype}; allowed are float32 and float64")
    if x.ndim == 1:
        x = x[None]
    elif not rowvar:
        x = x.T
    n = x.shape[1]
    for label, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            _weights(label, given, n)
    # Counts and weights of importance multiply.
    parts = [w.astype(x.dtype) for w in (fweights, aweights) if w is not None]
    weights = math.prod(parts, start=jnp.ones((n,), x.dtype))
    total = jnp.sum(weights)
    centered = x - (x @ weights / total)[:, None]
    if not ddof:
        scale = total
    elif aweights is None:
        scale = total - 1
    else:
        # As in NumPy: weights of importance lower the number of independent samples.
        scale = total - jnp.sum(weights * parts[-1]) / total
    return (centered * weights) @ jnp.conj(centered.T) / scale


@known_as(code="statistics:cov")
@op("x fweights aweights", register=False, method=False)
@named("cov")
def _cov(
    x: jax.Array,
    fweights: jax.Array | None = None,
    aweights: jax.Array | None = None,
    *,
    rowvar: bool,
    ddof: bool,
) -> jax.Array:
    out = _covariance("cov", x, rowvar, ddof, fweights, aweights)
    return out[0, 0] if x.ndim == 1 else out


@composite(
    cases=[
        "f(2,4)",
        "f(4)",
        "f(2,4), False, False",
        "f(2,4), fweights=const([1, 2, 1, 1])",
        "f(2,4), aweights=pos(4)",
        "f(2,4), True, True, const([1, 2, 1, 1]), pos(4)",
        "f(2,4), aweights=pos(2)",
        "f(2,2,4)",
        "i(2,2)",
        "d(3,5)",
    ]
)
def cov(
    x: Tensor,
    rowvar: bool = True,
    ddof: bool = True,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """The covariance matrix of variables.

    Args:
        x: Tensor [variables, observations] or [observations].
        rowvar: False takes columns as variables.
        ddof: True divides by the number of observations minus 1.
        fweights: int Tensor [observations], how often each counts.
        aweights: Tensor [observations], how much each weighs.
    Returns:
        Tensor [variables, variables], or [] for a 1-d x.
    Raises:
        ValueError: x has more than two axes, or a weight does not fit.
        TypeError: x is not floating.
    Example:
        >>> paddle.linalg.cov(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        1.0
    """
    for what, weights in (("fweights", fweights), ("aweights", aweights)):
        values = concrete(weights) if isinstance(weights, Tensor) else None
        if values is not None and values.size and values.min() < 0:
            raise ValueError(f"cov: {what}: got {values.min()}; weights must not be negative")
    return _cov(x, fweights, aweights, rowvar=rowvar, ddof=ddof)


@known_as(code="statistics:corrcoef")
@op(cases=["f(2,4)", "f(4)", "f(3,4), False", "f(2,2,4)", "d(3,5)"])
def corrcoef(x: jax.Array, rowvar: bool = True, name: str | None = None) -> jax.Array:
    """The matrix of correlation coefficients of variables.

    Args:
        x: Tensor [variables, observations] or [observations].
        rowvar: False takes columns as variables.
    Returns:
        Tensor [variables, variables], or [] for a 1-d x.
    Example:
        >>> paddle.linalg.corrcoef(paddle.to_tensor([1.0, 2.0, 3.0])).item()
        1.0
    """
    spread = _covariance("corrcoef", x, rowvar, True)
    # The diagonal is real, also that of complex variables.
    scale = jnp.sqrt(jnp.real(jnp.diag(spread)))
    # Rounding may give a little more than 1.
    out = jnp.clip(spread / scale[:, None] / scale[None, :], -1, 1)
    return out[0, 0] if x.ndim == 1 else out
