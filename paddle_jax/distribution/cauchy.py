"""The Cauchy distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NoReturn

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
    from paddle_jax._core.base.dtype import DType


class Cauchy(Distribution):
    """The Cauchy distribution around loc; scale is half of its width at half of its height.

    Args:
        loc, scale: numbers or Tensors that broadcast, scale > 0.
    Raises:
        TypeError: a parameter is of another type.
    Example:
        >>> round(paddle.distribution.Cauchy(0.0, 1.0).cdf(paddle.to_tensor(1.0)).item(), 4)
        0.75
    """

    loc: Tensor
    scale: Tensor

    def __init__(self, loc: float | Tensor, scale: float | Tensor, name: str | None = None) -> None:
        self.name: str = name or "Cauchy"
        real_or_tensor(self, loc=loc, scale=scale)
        self.loc, self.scale = alike(*as_tensors(loc, scale))
        self.dtype: DType = self.loc.dtype
        super().__init__(tuple(self.loc.shape))

    @property
    def mean(self) -> NoReturn:
        """The distribution has none: ValueError."""
        raise ValueError("Cauchy: mean: the distribution has none; its median is loc")

    @property
    def variance(self) -> NoReturn:
        """The distribution has none: ValueError."""
        raise ValueError(
            "Cauchy: variance: the distribution has none; its quartiles are loc - scale and loc + scale"
        )

    @property
    def stddev(self) -> NoReturn:
        """The distribution has none: ValueError."""
        raise ValueError(
            "Cauchy: stddev: the distribution has none; its quartiles are loc - scale and loc + scale"
        )

    def sample(self, shape: ShapeLike = [], name: str | None = None) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values of shape `shape` + batch_shape."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: ShapeLike = [], name: str | None = None) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values with gradients to loc and scale."""
        loc, scale = repeated(sizes(self, shape), self.loc, self.scale)
        return loc + scale * ((draw_uniform_like(loc) - 0.5) * math.pi).tan()

    def prob(self, value: Tensor) -> Tensor:
        """The density of a Tensor."""
        return self.log_prob(value).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density of a Tensor."""
        return -self._away(value).pow(2).log1p() - self.scale.log() - math.log(math.pi)

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of results up to value."""
        return self._away(value).atan() / math.pi + 0.5

    def _away(self, value: Tensor) -> Tensor:
        if not isinstance(value, Tensor):
            raise TypeError(f"Cauchy: value: got {type(value).__name__}; give a Tensor")
        return (self._check_values_dtype_in_probs(self.loc, value) - self.loc) / self.scale

    def entropy(self) -> Tensor:
        """log(4 pi scale)."""
        return self.scale.log() + math.log(4 * math.pi)

    def kl_divergence(self, other: Cauchy) -> Tensor:
        """The divergence from this Cauchy distribution to another.

        See: Chyzak and Nielsen, A closed-form formula for the Kullback-Leibler divergence between Cauchy
            distributions, 2019.
        """
        if not isinstance(other, Cauchy):
            raise TypeError(f"Cauchy: kl_divergence: got {type(other).__name__}; give a Cauchy distribution")
        both = (self.scale + other.scale).pow(2) + (self.loc - other.loc).pow(2)
        return both.log() - (self.scale * other.scale * 4).log()
