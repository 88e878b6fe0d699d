"""Kullback-Leibler divergences, found by the classes of the two distributions."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeAlias

from paddle_jax.distribution.bernoulli import Bernoulli
from paddle_jax.distribution.beta import Beta
from paddle_jax.distribution.binomial import Binomial
from paddle_jax.distribution.categorical import Categorical
from paddle_jax.distribution.cauchy import Cauchy
from paddle_jax.distribution.continuous_bernoulli import ContinuousBernoulli
from paddle_jax.distribution.dirichlet import Dirichlet
from paddle_jax.distribution.distribution import Distribution, sum_rightmost
from paddle_jax.distribution.exponential import Exponential
from paddle_jax.distribution.exponential_family import ExponentialFamily, normalizer_slopes
from paddle_jax.distribution.gamma import Gamma
from paddle_jax.distribution.geometric import Geometric
from paddle_jax.distribution.laplace import Laplace
from paddle_jax.distribution.lognormal import LogNormal
from paddle_jax.distribution.multivariate_normal import MultivariateNormal
from paddle_jax.distribution.normal import Normal
from paddle_jax.distribution.poisson import Poisson
from paddle_jax.distribution.uniform import Uniform
from paddle_jax.tensor.creation import full_like
from paddle_jax.tensor.search import where

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddle_jax._core.tensors.tensor import Tensor

    # A function that computes the divergence from its first argument to its second.
    Divergence: TypeAlias = Callable[[Any, Any], Tensor]

__all__ = ["register_kl", "kl_divergence"]

_REGISTER_TABLE = {}


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The Kullback-Leibler divergence from p to q: the mean of log(p(x) / q(x)) for x drawn from p.

    Args:
        p, q: Distributions.
    Returns:
        Tensor of shape batch_shape.
    Raises:
        NotImplementedError: no formula is registered for these classes.
    Example:
        >>> p, q = paddle.distribution.Normal(0.0, 1.0), paddle.distribution.Normal(1.0, 1.0)
        >>> paddle.distribution.kl_divergence(p, q).item()
        0.5
    """
    return _dispatch(type(p), type(q))(p, q)


def register_kl(cls_p: type[Distribution], cls_q: type[Distribution]) -> Callable[[Divergence], Divergence]:
    """A decorator that registers a function of (p, q) as the divergence from cls_p to cls_q and
    their subclasses.

    Args:
        cls_p, cls_q: subclasses of Distribution.
    Returns:
        Decorator.
    Raises:
        TypeError: one of them is none.
    Example:
        >>> class Shifted(paddle.distribution.Gumbel):
        ...     pass
        >>> @paddle.distribution.register_kl(Shifted, Shifted)
        ... def kl_shifted(p, q):
        ...     return (q.scale / p.scale).log()
        >>> paddle.distribution.kl_divergence(Shifted(0.0, 1.0), Shifted(0.0, 1.0)).item()
        0.0
    """
    if not (issubclass(cls_p, Distribution) and issubclass(cls_q, Distribution)):
        raise TypeError(
            f"register_kl: got {cls_p.__name__} and {cls_q.__name__}; both must be subclasses of Distribution"
        )

    def register(function: Divergence) -> Divergence:
        _REGISTER_TABLE[cls_p, cls_q] = function
        return function

    return register


def _dispatch(cls_p: type[Distribution], cls_q: type[Distribution]) -> Divergence:
    """The function registered for the nearest base classes."""
    found = [pair for pair in _REGISTER_TABLE if issubclass(cls_p, pair[0]) and issubclass(cls_q, pair[1])]
    if not found:
        raise NotImplementedError(
            f"kl_divergence: nothing is registered for {cls_p.__name__} and "
            f"{cls_q.__name__}; add it with register_kl"
        )

    def by_p(pair: tuple[type, type]) -> tuple[int, int]:
        return cls_p.__mro__.index(pair[0]), cls_q.__mro__.index(pair[1])

    def by_q(pair: tuple[type, type]) -> tuple[int, int]:
        return cls_q.__mro__.index(pair[1]), cls_p.__mro__.index(pair[0])

    # The nearest classes may differ by which argument goes first. Then the choice is ambiguous.
    left = _REGISTER_TABLE[min(found, key=by_p)]
    right = _REGISTER_TABLE[min(found, key=by_q)]
    if left is not right:
        names = f"{cls_p.__name__} and {cls_q.__name__}"
        message = (
            f"kl_divergence: two registered functions fit {names}; "
            f"the one nearest to {cls_p.__name__} is used"
        )
        warnings.warn(message, RuntimeWarning, stacklevel=3)
    return left


def _kl_of_method(p: Distribution, q: Distribution) -> Tensor:
    return p.kl_divergence(q)


for _class in (
    Bernoulli,
    Binomial,
    Categorical,
    Cauchy,
    ContinuousBernoulli,
    Normal,
    MultivariateNormal,
    Laplace,
    Geometric,
    Exponential,
    Gamma,
    LogNormal,
    Poisson,
):
    register_kl(_class, _class)(_kl_of_method)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    a = p.alpha
    b = p.beta
    c = q.alpha
    d = q.beta
    means = (a - c) * a.digamma() + (b - d) * b.digamma() + (c + d - a - b) * (a + b).digamma()
    return q._log_normalizer(c, d) - p._log_normalizer(a, b) + means


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a = p.concentration
    b = q.concentration
    means = ((a - b) * (a.digamma() - a.sum(-1, keepdim=True).digamma())).sum(-1)
    return q._log_normalizer(b) - p._log_normalizer(a) + means


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    # p has values to which q gives no probability.
    outside = (q.low > p.low).logical_or(q.high < p.high)
    return where(outside, full_like(found, float("inf")), found)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """A(theta_q) - A(theta_p) - <theta_q - theta_p, A'(theta_p)>."""
    if type(p) is not type(q):
        raise NotImplementedError(
            f"kl_divergence: {type(p).__name__} and {type(q).__name__} are of "
            "different exponential families; use register_kl"
        )
    theta, value, slopes = normalizer_slopes(p)
    others = q._natural_parameters
    found = q._log_normalizer(*others) - value
    for own, other, slope in zip(theta, others, slopes, strict=True):
        found = found - sum_rightmost((other - own) * slope, len(q.event_shape))
    return found
