"""The log-normal distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.distribution.normal import Normal
from paddle_jax.distribution.transform import ExpTransform
from paddle_jax.distribution.transformed_distribution import TransformedDistribution

if TYPE_CHECKING:
    from paddle_jax._annotations import TensorLike
    from paddle_jax._core.tensors.tensor import Tensor


class LogNormal(TransformedDistribution):
    """The distribution of exp(x) for a normal x of mean loc and standard deviation scale.

    Args:
        loc, scale: as for `Normal`.
    Example:
        >>> d = paddle.distribution.LogNormal(0.0, 1.0)
        >>> round(d.mean.item(), 4)
        1.6487
    """

    def __init__(self, loc: TensorLike, scale: TensorLike) -> None:
        base = Normal(loc, scale)
        self.loc: Tensor = base.loc
        self.scale: Tensor = base.scale
        super().__init__(base, [ExpTransform()])

    @property
    def mean(self) -> Tensor:
        """exp(loc + scale**2 / 2)."""
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def variance(self) -> Tensor:
        """expm1(scale**2) * exp(2 loc + scale**2)."""
        return self.scale.pow(2).expm1() * (self.loc * 2 + self.scale.pow(2)).exp()

    def entropy(self) -> Tensor:
        """The entropy of the normal distribution plus loc."""
        return self._base.entropy() + self.loc

    def probs(self, value: Tensor) -> Tensor:
        """The density of a Tensor > 0."""
        return self.prob(value)

    def kl_divergence(self, other: LogNormal) -> Tensor:
        """The divergence from this log-normal distribution to another: that of the normal ones."""
        return self._base.kl_divergence(other._base)
