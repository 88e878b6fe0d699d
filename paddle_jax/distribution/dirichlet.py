"""The Dirichlet distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.distribution import repeated, sizes
from paddle_jax.distribution.draws import draw_log_gamma
from paddle_jax.distribution.exponential_family import ExponentialFamily
from paddle_jax.nn.functional.activation import softmax

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike


class Dirichlet(ExponentialFamily):
    """The distribution on lists of positive numbers that add up to 1, density proportional to the product of
    x**(concentration - 1).

    Args:
        concentration: floating Tensor [..., parts], > 0.
    Raises:
        ValueError: concentration has no axis.
        AttributeError: concentration is no Tensor.
    Example:
        >>> paddle.distribution.Dirichlet(paddle.to_tensor([1.0, 3.0])).mean.tolist()
        [0.25, 0.75]
    """

    def __init__(self, concentration: Tensor) -> None:
        if not isinstance(concentration, Tensor):
            raise AttributeError(
                f"Dirichlet: concentration: got {type(concentration).__name__}; give a Tensor"
            )
        if concentration.ndim < 1:
            raise ValueError("Dirichlet: concentration: got one number; it must have at least one axis")
        self.concentration = concentration
        super().__init__(tuple(concentration.shape[:-1]), tuple(concentration.shape[-1:]))

    @property
    def mean(self) -> Tensor:
        """concentration divided by its sum."""
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def variance(self) -> Tensor:
        """mean * (1 - mean) / (sum of concentration + 1)."""
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values of shape `shape` + batch_shape + event_shape."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values with (implicit) gradients to concentration."""
        # Gamma numbers divided by their sum, by their logarithms: small parameters would underflow.
        return softmax(draw_log_gamma(repeated(sizes(self, shape), self.concentration)), -1)

    def prob(self, value: Tensor) -> Tensor:
        """The density of a Tensor [..., parts]."""
        return self.log_prob(value).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density of a Tensor [..., parts]."""
        return ((self.concentration - 1) * value.log()).sum(-1) - self._log_normalizer(self.concentration)

    def entropy(self) -> Tensor:
        """The entropy of shape batch_shape."""
        a = self.concentration
        total = a.sum(-1)
        rest = ((a - 1) * a.digamma()).sum(-1)
        return self._log_normalizer(a) + (total - self.event_shape[0]) * total.digamma() - rest

    @property
    def _natural_parameters(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()
