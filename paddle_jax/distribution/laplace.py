"""The Laplace distribution."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.distribution import (
    Distribution,
    alike,
    as_tensors,
    real_or_tensor,
    repeated,
    sizes,
)
from paddle_jax.distribution.draws import draw_uniform_like

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike


class Laplace(Distribution):
    """The Laplace distribution, density exp(-|x - loc| / scale) / (2 scale).

    Args:
        loc, scale: numbers or Tensors that broadcast, scale > 0.
    Raises:
        TypeError: a parameter is of another type.
    Example:
        >>> paddle.distribution.Laplace(0.0, 1.0).variance.item()
        2.0
    """

    loc: Tensor
    scale: Tensor

    def __init__(self, loc: float | Tensor, scale: float | Tensor) -> None:
        real_or_tensor(self, loc=loc, scale=scale)
        self.loc, self.scale = alike(*as_tensors(loc, scale))
        super().__init__(tuple(self.loc.shape))

    @property
    def mean(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """sqrt(2) * scale."""
        return self.scale * math.sqrt(2)

    @property
    def variance(self) -> Tensor:
        """2 * scale**2."""
        return self.scale.pow(2) * 2

    def _away(self, value: float | Tensor) -> Tensor:
        """The distance of a Tensor or number from loc."""
        if isinstance(value, numbers.Real):
            return value - self.loc
        if not isinstance(value, Tensor):
            raise AttributeError(f"Laplace: value: got {type(value).__name__}; give a Tensor or a number")
        return value.astype(self.loc.dtype) - self.loc

    def log_prob(self, value: float | Tensor) -> Tensor:
        """The logarithm of the density of a Tensor or number."""
        return -self._away(value).abs() / self.scale - (self.scale * 2).log()

    def entropy(self) -> Tensor:
        """1 + log(2 scale)."""
        return (self.scale * 2).log() + 1

    def cdf(self, value: float | Tensor) -> Tensor:
        """The probability of results up to value."""
        away = self._away(value)
        return 0.5 - 0.5 * away.sign() * (-away.abs() / self.scale).expm1()

    def icdf(self, value: float | Tensor) -> Tensor:
        """The value up to which results have the given probability."""
        term = (
            value.astype(self.loc.dtype) if isinstance(value, Tensor) else self._away(value) + self.loc
        ) - 0.5
        return self.loc - self.scale * term.sign() * (term.abs() * -2).log1p()

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values of shape `shape` + batch_shape."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values with gradients to loc and scale: the difference of two exponential numbers."""
        loc, scale = repeated(sizes(self, shape), self.loc, self.scale)
        return loc + scale * (draw_uniform_like(loc).log() - draw_uniform_like(loc).log())

    def kl_divergence(self, other: Laplace) -> Tensor:
        """The divergence from this Laplace distribution to another."""
        ratio = self.scale / other.scale
        away = (self.loc - other.loc).abs()
        return ratio * (-away / self.scale).exp() + away / other.scale - ratio.log() - 1
