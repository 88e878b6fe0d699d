"""The continuous Bernoulli distribution."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.bernoulli import _clip_probs
from paddle_jax.distribution.distribution import Distribution, repeated, sizes
from paddle_jax.distribution.draws import draw_uniform_like
from paddle_jax.tensor.creation import ones_like, to_tensor, zeros_like
from paddle_jax.tensor.search import where

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike
    from paddle_jax._core.base.dtype import DType


class ContinuousBernoulli(Distribution):
    """The distribution on [0, 1] with density proportional to probs**x * (1 - probs)**(1 - x).

    Args:
        probs: number, or floating Tensor in (0, 1).
        lims: (low, high): for probs between them, Taylor series around 1/2 stand for formulas that
            would divide 0 by 0.
    Raises:
        AttributeError: probs is of another type.
    See: Loaiza-Ganem and Cunningham, The continuous Bernoulli: fixing a pervasive error in variational
        autoencoders, 2019.
    Example:
        >>> paddle.distribution.ContinuousBernoulli(paddle.to_tensor(0.5)).mean.item()
        0.5
    """

    def __init__(self, probs: float | Tensor, lims: tuple[float, float] = (0.499, 0.501)) -> None:
        if not isinstance(probs, (numbers.Real, Tensor)):
            raise AttributeError(
                f"ContinuousBernoulli: probs: got {type(probs).__name__}; give a number or a Tensor"
            )
        if isinstance(probs, Tensor):
            self.dtype = probs.dtype
        else:
            self.dtype: DType | str = get_default_dtype()
        self.lims: Any = to_tensor(lims, dtype=self.dtype)
        if isinstance(probs, Tensor):
            made = probs
        else:
            made = to_tensor([probs], dtype=self.dtype)
        self.probs = _clip_probs(made, self.dtype)
        super().__init__(tuple(self.probs.shape))

    def _cases(self) -> tuple[Tensor, Tensor, Tensor]:
        """(whether probs is away from 1/2, probs with 1/4 in place of what is near, distance of what
        is near from 1/2)."""
        # Near 1/2 the formulas divide by zero, so another one is used there.
        away = (self.probs <= self.lims[0]).logical_or(self.probs > self.lims[1])
        return (
            away,
            where(away, self.probs, zeros_like(self.probs) + 0.25),
            where(away, zeros_like(self.probs), self.probs - 0.5),
        )

    def _log_constant(self) -> Tensor:
        """The logarithm of 2 artanh(1 - 2 probs) / (1 - 2 probs)."""
        away, p, x = self._cases()
        # 0 / 0 at 1/2: near it the series below has the value.
        exact = (((-p).log1p() - p.log()) / (1 - 2 * p)).log()
        return where(away, exact, (4 / 3 + 104 / 45 * x.pow(2)) * x.pow(2) + 0.6931471805599453)

    @property
    def mean(self) -> Tensor:
        """The mean of shape batch_shape."""
        away, p, x = self._cases()
        # Near 1/2 a series in the distance from it.
        return where(
            away, p / (2 * p - 1) + 1 / ((-p).log1p() - p.log()), 0.5 + (1 / 3 + 16 / 45 * x.pow(2)) * x
        )

    @property
    def variance(self) -> Tensor:
        """The variance of shape batch_shape."""
        away, p, x = self._cases()
        exact = p * (p - 1) / (1 - 2 * p).pow(2) + 1 / ((-p).log1p() - p.log()).pow(2)
        return where(away, exact, 1 / 12 - (1 / 15 + 128 / 945 * x.pow(2)) * x.pow(2))

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values of shape `shape` + batch_shape."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values with gradients to probs."""
        return self.icdf(draw_uniform_like(repeated(sizes(self, shape), self.probs)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density of a Tensor in [0, 1]."""
        value = self._as_value(value)
        return value * self.probs.log() + (1 - value) * (-self.probs).log1p() + self._log_constant()

    def prob(self, value: Tensor) -> Tensor:
        """The density of a Tensor in [0, 1]."""
        return self.log_prob(value).exp()

    def _as_value(self, value: Tensor) -> Tensor:
        if not isinstance(value, Tensor):
            raise ArgumentError(f"ContinuousBernoulli: value: got {type(value).__name__}; give a Tensor")
        return value.astype(self.dtype)

    def entropy(self) -> Tensor:
        """The entropy of shape batch_shape."""
        log_odds = self.probs.log() - (-self.probs).log1p()
        return -self._log_constant() - self.mean * log_odds - (-self.probs).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of results up to value."""
        value = self._as_value(value)
        away, p, _ = self._cases()
        exact = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        # At 1/2 the distribution is uniform, and its cdf the value itself.
        inside = where(away.expand_as(exact), exact, value.expand_as(exact))
        low = where(value.expand_as(inside) <= 0, zeros_like(inside), inside)
        return where(value.expand_as(inside) >= 1, ones_like(inside), low)

    def icdf(self, value: Tensor) -> Tensor:
        """The value up to which results have the given probability."""
        value = self._as_value(value)
        away, p, _ = self._cases()
        exact = ((value * (2 * p - 1) - p).log1p() - (-p).log1p()) / (p.log() - (-p).log1p())
        return where(away.expand_as(exact), exact, value.expand_as(exact))

    def kl_divergence(self, other: ContinuousBernoulli) -> Tensor:
        """The divergence from this distribution to another of the same batch shape."""
        if tuple(self.batch_shape) != tuple(other.batch_shape):
            raise ValueError(
                f"ContinuousBernoulli: kl_divergence: batch shapes are {self.batch_shape} and "
                f"{other.batch_shape}; they must be equal"
            )
        log_odds = other.probs.log() - (-other.probs).log1p()
        return -self.entropy() - self.mean * log_odds - (-other.probs).log1p() - other._log_constant()
