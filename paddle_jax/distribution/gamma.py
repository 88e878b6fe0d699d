"""The gamma distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.distribution import alike, common_shape, repeated, sizes
from paddle_jax.distribution.draws import draw_log_gamma
from paddle_jax.distribution.exponential_family import ExponentialFamily

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike, TensorLike
    from paddle_jax._core.base.dtype import DType


class Gamma(ExponentialFamily):
    """The gamma distribution on x > 0, density proportional to x**(concentration - 1) * exp(-rate * x).

    Args:
        concentration, rate: floats, lists, arrays or Tensors > 0 that broadcast. Tensors and other
            values do not mix.
    Raises:
        TypeError: a parameter is of another type.
        ValueError: one parameter is a Tensor and the other is not.
    Example:
        >>> paddle.distribution.Gamma(2.0, 4.0).mean.item()
        0.5
    """

    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: TensorLike, rate: TensorLike) -> None:
        if not self._validate_args(concentration, rate):
            concentration, rate = self._to_tensor(concentration, rate)
        self.concentration = concentration
        self.rate = rate
        self.dtype: DType = self.concentration.dtype
        super().__init__(common_shape(self.concentration, self.rate))

    @property
    def mean(self) -> Tensor:
        """concentration / rate."""
        return self.concentration / self.rate

    @property
    def variance(self) -> Tensor:
        """concentration / rate**2."""
        return self.concentration / self.rate.pow(2)

    def prob(self, value: Tensor) -> Tensor:
        """The density of a Tensor > 0."""
        return self.log_prob(value).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density of a Tensor > 0."""
        if not isinstance(value, Tensor):
            raise ArgumentError(f"{type(self).__name__}: value: got {type(value).__name__}; give a Tensor")
        a = self.concentration
        rate = self.rate
        return a * rate.log() + (a - 1) * value.log() - rate * value - a.lgamma()

    def entropy(self) -> Tensor:
        """The entropy of shape batch_shape."""
        a, rate = alike(self.concentration, self.rate)
        return a - rate.log() + a.lgamma() + (1 - a) * a.digamma()

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values of shape `shape` + batch_shape."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values with gradients to rate and (implicit ones) to concentration."""
        a, rate = repeated(sizes(self, shape), self.concentration, self.rate)
        return (draw_log_gamma(a) - rate.log()).exp()

    def kl_divergence(self, other: Gamma) -> Tensor:
        """The divergence from this gamma distribution to another."""
        if not isinstance(other, Gamma):
            raise TypeError(f"Gamma: kl_divergence: got {type(other).__name__}; give a Gamma distribution")
        a = self.concentration
        rate = self.rate
        b = other.concentration
        other_rate = other.rate
        logs = b * (rate.log() - other_rate.log()) + b.lgamma() - a.lgamma()
        return logs + (a - b) * a.digamma() + a * (other_rate / rate - 1)

    @property
    def _natural_parameters(self) -> tuple[Tensor, ...]:
        return tuple(alike(self.concentration - 1, -self.rate))

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return (x + 1).lgamma() - (x + 1) * (-y).log()

    @property
    def _mean_carrier_measure(self) -> float | Tensor:
        return 0.0
