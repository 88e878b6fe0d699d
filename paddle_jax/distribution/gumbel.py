"""The Gumbel distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.number_limits import finfo
from paddle_jax.distribution.distribution import alike, as_tensors, real_or_tensor, repeated, sizes
from paddle_jax.distribution.draws import draw_uniform_like
from paddle_jax.distribution.transformed_distribution import TransformedDistribution
from paddle_jax.distribution.uniform import Uniform
from paddle_jax.tensor.creation import full_like, zeros_like

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike
    from paddle_jax._core.tensors.tensor import Tensor


class Gumbel(TransformedDistribution):
    """The Gumbel distribution (of largest values) around loc, with width scale.

    Args:
        loc, scale: numbers or Tensors that broadcast, scale > 0.
    Raises:
        TypeError: a parameter is of another type.
    Example:
        >>> round(paddle.distribution.Gumbel(0.0, 1.0).cdf(paddle.to_tensor(0.0)).item(), 4)
        0.3679
    """

    loc: Tensor
    scale: Tensor

    def __init__(self, loc: float | Tensor, scale: float | Tensor) -> None:
        real_or_tensor(self, loc=loc, scale=scale)
        self.loc, self.scale = alike(*as_tensors(loc, scale))
        self.base_dist: Uniform = Uniform(
            zeros_like(self.loc), full_like(self.loc, 1 - float(finfo(self.loc.dtype).eps))
        )
        # Paddle's attribute. Here draws and densities have formulas of their own.
        self.transforms: tuple[()] = ()
        super().__init__(self.base_dist, self.transforms)

    @property
    def mean(self) -> Tensor:
        """loc + scale * Euler's constant."""
        return self.loc + self.scale * np.euler_gamma

    @property
    def variance(self) -> Tensor:
        """(pi * scale)**2 / 6."""
        return self.scale.pow(2) * (math.pi**2 / 6)

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    def prob(self, value: Tensor) -> Tensor:
        """The density of a Tensor."""
        away = self._away(value)
        return (-away - (-away).exp()).exp() / self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density of a Tensor."""
        away = self._away(value)
        return -away - (-away).exp() - self.scale.log()

    def _away(self, value: Tensor) -> Tensor:
        return (self._check_values_dtype_in_probs(self.loc, value) - self.loc) / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of results up to value, in the dtype of value."""
        away = (value - self.loc.astype(value.dtype)) / self.scale.astype(value.dtype)
        return (-(-away).exp()).exp()

    def entropy(self) -> Tensor:
        """log(scale) + 1 + Euler's constant."""
        return self.scale.log() + (1 + np.euler_gamma)

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values of shape `shape` + batch_shape."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values with gradients to loc and scale."""
        loc, scale = repeated(sizes(self, shape), self.loc, self.scale)
        return loc - scale * (-draw_uniform_like(loc).log()).log()
