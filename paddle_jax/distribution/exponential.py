"""The exponential distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.distribution import repeated, sizes
from paddle_jax.distribution.draws import draw_uniform_like
from paddle_jax.distribution.exponential_family import ExponentialFamily

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike, TensorLike
    from paddle_jax._core.base.dtype import DType


class Exponential(ExponentialFamily):
    """The exponential distribution on x > 0, density rate * exp(-rate * x).

    Args:
        rate: float, list, array or Tensor > 0.
    Raises:
        TypeError: rate is of another type.
    Example:
        >>> paddle.distribution.Exponential(4.0).mean.item()
        0.25
    """

    def __init__(self, rate: TensorLike) -> None:
        self.rate: Tensor = self._to_tensor(rate)[0]
        self.dtype: DType = self.rate.dtype
        super().__init__(tuple(self.rate.shape))

    @property
    def mean(self) -> Tensor:
        """1 / rate."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        """1 / rate**2."""
        return self.rate.pow(-2)

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values of shape `shape` + batch_shape."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values with gradients to rate."""
        rate = repeated(sizes(self, shape), self.rate)
        return -draw_uniform_like(rate).log() / rate

    def prob(self, value: float | Tensor) -> Tensor:
        """The density of a Tensor or number >= 0."""
        return self.rate * (-self.rate * self._as_value(value)).exp()

    def log_prob(self, value: float | Tensor) -> Tensor:
        """The logarithm of the density of a Tensor or number >= 0."""
        return self.rate.log() - self.rate * self._as_value(value)

    def entropy(self) -> Tensor:
        """1 - log(rate)."""
        return 1 - self.rate.log()

    def cdf(self, value: float | Tensor) -> Tensor:
        """The probability of results up to value."""
        return -(-self.rate * self._as_value(value)).expm1()

    def icdf(self, value: float | Tensor) -> Tensor:
        """The value up to which results have the given probability (a Tensor)."""
        if not isinstance(value, Tensor):
            raise ArgumentError(f"Exponential: value: got {type(value).__name__}; give a Tensor")
        return -(-value).log1p() / self.rate

    def _as_value(self, value: float | Tensor) -> float | Tensor:
        if not isinstance(value, (int, float, Tensor)):
            raise TypeError(f"Exponential: value: got {type(value).__name__}; give a Tensor or a number")
        return value

    def kl_divergence(self, other: Exponential) -> Tensor:
        """The divergence from this exponential distribution to another."""
        if not isinstance(other, Exponential):
            raise TypeError(
                f"Exponential: kl_divergence: got {type(other).__name__}; give an Exponential distribution"
            )
        ratio = other.rate / self.rate
        return ratio - 1 - ratio.log()

    @property
    def _natural_parameters(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return -(-x).log()

    @property
    def _mean_carrier_measure(self) -> float | Tensor:
        return 0.0
