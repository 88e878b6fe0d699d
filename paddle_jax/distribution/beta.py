"""The beta distribution."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.distribution import alike, as_tensors, repeated, sizes
from paddle_jax.distribution.draws import draw_log_gamma
from paddle_jax.distribution.exponential_family import ExponentialFamily
from paddle_jax.tensor.ops import sigmoid

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike


class Beta(ExponentialFamily):
    """The beta distribution on (0, 1), density proportional to x**(alpha - 1) * (1 - x)**(beta - 1).

    Args:
        alpha, beta: numbers or Tensors > 0 that broadcast.
    Raises:
        ValueError: a parameter is of another type.
    Example:
        >>> paddle.distribution.Beta(1.0, 3.0).mean.item()
        0.25
    """

    alpha: Tensor
    beta: Tensor

    def __init__(self, alpha: float | Tensor, beta: float | Tensor) -> None:
        for name, value in (("alpha", alpha), ("beta", beta)):
            if not isinstance(value, (numbers.Real, Tensor)):
                raise ArgumentError(f"Beta: {name}: got {type(value).__name__}; give a number or a Tensor")
        self.alpha, self.beta = alike(*as_tensors(alpha, beta))
        super().__init__(tuple(self.alpha.shape))

    @property
    def mean(self) -> Tensor:
        """alpha / (alpha + beta)."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> Tensor:
        """alpha * beta / ((alpha + beta)**2 * (alpha + beta + 1))."""
        total = self.alpha + self.beta
        return self.alpha * self.beta / (total.pow(2) * (total + 1))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density of a Tensor in (0, 1)."""
        if not isinstance(value, Tensor):
            raise ArgumentError(f"Beta: value: got {type(value).__name__}; give a Tensor")
        # `log1p` keeps the digits of values near 0.
        return (
            (self.alpha - 1) * value.log()
            + (self.beta - 1) * (-value).log1p()
            - self._log_normalizer(self.alpha, self.beta)
        )

    def prob(self, value: Tensor) -> Tensor:
        """The density of a Tensor in (0, 1)."""
        return self.log_prob(value).exp()

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values of shape `shape` + batch_shape."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values with (implicit) gradients to alpha and beta."""
        alpha, beta = repeated(sizes(self, shape), self.alpha, self.beta)
        # G1 / (G1 + G2) of gamma numbers, by their logarithms: small parameters would underflow.
        return sigmoid(draw_log_gamma(alpha) - draw_log_gamma(beta))

    def entropy(self) -> Tensor:
        """The entropy of shape batch_shape."""
        a = self.alpha
        b = self.beta
        return (
            self._log_normalizer(a, b)
            - (a - 1) * a.digamma()
            - (b - 1) * b.digamma()
            + (a + b - 2) * (a + b).digamma()
        )

    @property
    def _natural_parameters(self) -> tuple[Tensor, ...]:
        return self.alpha, self.beta

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return x.lgamma() + y.lgamma() - (x + y).lgamma()
