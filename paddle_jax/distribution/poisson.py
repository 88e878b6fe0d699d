"""The Poisson distribution."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.number_limits import finfo
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.distribution import Distribution, alike, repeated, sizes
from paddle_jax.tensor.creation import to_tensor, zeros_like
from paddle_jax.tensor.sampling import draw_poisson
from paddle_jax.tensor.search import where
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike

_LARGE = 100.0  # from this rate on the entropy comes from its asymptotic series, exact to 1e-9 there
_TERMS = 256  # results that count below it


class Poisson(Distribution):
    """The number of events that happen at an average rate.

    Args:
        rate: number, or floating Tensor >= 0.
    Raises:
        AttributeError: rate is of another type.
    Example:
        >>> paddle.distribution.Poisson(paddle.to_tensor([3.0])).variance.tolist()
        [3.0]
    """

    def __init__(self, rate: float | Tensor) -> None:
        if not isinstance(rate, (numbers.Real, Tensor)):
            raise AttributeError(f"Poisson: rate: got {type(rate).__name__}; give a number or a Tensor")
        if isinstance(rate, Tensor):
            self.rate = rate
        else:
            self.rate: Any = to_tensor([rate], dtype=get_default_dtype())
        self.dtype: Any = self.rate.dtype
        super().__init__(tuple(self.rate.shape))

    @property
    def mean(self) -> Tensor:
        """rate."""
        return self.rate

    @property
    def variance(self) -> Tensor:
        """rate."""
        return self.rate

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random whole numbers of shape `shape` + batch_shape, in the dtype of rate."""
        with no_grad():
            return draw_poisson(repeated(sizes(self, shape), self.rate))

    def entropy(self) -> Tensor:
        """The entropy of shape batch_shape: a sum over results for small rates, the asymptotic
        series for large ones.

        See: Evans and Boersma, The Entropy of a Poisson Distribution, 1988.
        """
        small = self.rate < _LARGE
        # The other case gets a harmless number, as both are computed.
        rate = where(small, self.rate, zeros_like(self.rate) + 1)
        k = arange(0, _TERMS, dtype=self.dtype).reshape([-1] + [1] * rate.ndim)
        log_mass = self._log_mass(k, rate)
        inverse = 1 / where(small, zeros_like(self.rate) + _LARGE, self.rate)
        # The series of the entropy in powers of 1 / rate.
        series = -inverse * (1 / 12 + inverse * (1 / 24 + inverse * 19 / 360))
        return where(
            small,
            -(log_mass.exp() * log_mass).sum(0),
            (1 + math.log(2 * math.pi) - inverse.log()) / 2 + series,
        )

    def _log_mass(self, k: Tensor, rate: Tensor) -> Tensor:
        # A rate of 0 has k * log(0), which is NaN for k = 0.
        rate = rate.clip(min=finfo(self.dtype).tiny)
        return k * rate.log() - rate - (k + 1).lgamma()

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a Tensor of whole numbers; minus infinity below 0."""
        if not isinstance(value, Tensor):
            raise ArgumentError(f"Poisson: value: got {type(value).__name__}; give a Tensor")
        value, rate = alike(value.astype(self.dtype), self.rate)
        found = self._log_mass(value.clip(min=0), rate)
        return where(value >= 0, found, zeros_like(found) - float("inf"))

    def prob(self, value: Tensor) -> Tensor:
        """The probability of a Tensor of whole numbers."""
        return self.log_prob(value).exp()

    def kl_divergence(self, other: Poisson) -> Tensor:
        """The divergence from this Poisson distribution to another of the same batch shape."""
        if tuple(self.batch_shape) != tuple(other.batch_shape):
            raise ValueError(
                f"Poisson: kl_divergence: batch shapes are {self.batch_shape} and "
                f"{other.batch_shape}; they must be equal"
            )
        p = self.rate
        q = other.rate
        # A rate of 0 gives 0 times a finite logarithm.
        tiny = finfo(self.dtype).tiny
        return p * (p.clip(min=tiny).log() - q.clip(min=tiny).log()) - p + q
