"""The geometric distribution."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.distribution import Distribution, repeated, sizes
from paddle_jax.distribution.draws import draw_uniform_like
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.ops import floor

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike


class Geometric(Distribution):
    """The number of failures before the first success, 0, 1, 2, ..., when each trial succeeds with
    probability probs.

    Args:
        probs: number, or floating Tensor in (0, 1].
    Raises:
        TypeError: probs is of another type.
    Example:
        >>> round(paddle.distribution.Geometric(0.5).pmf(1).item(), 4)
        0.25
    """

    def __init__(self, probs: float | Tensor) -> None:
        if not isinstance(probs, (numbers.Real, Tensor)):
            raise TypeError(f"Geometric: probs: got {type(probs).__name__}; give a number or a Tensor")
        if isinstance(probs, Tensor):
            self.probs = probs
        else:
            self.probs = to_tensor(float(probs), dtype="float32")
        super().__init__(tuple(self.probs.shape))

    @property
    def mean(self) -> Tensor:
        """1 / probs - 1."""
        return 1 / self.probs - 1

    @property
    def variance(self) -> Tensor:
        """(1 - probs) / probs**2."""
        return (1 / self.probs - 1) / self.probs

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    def pmf(self, k: float | Tensor) -> Tensor:
        """The probability of k failures.

        Args:
            k: number, or Tensor that broadcasts with the batch.
        """
        return self.log_pmf(k).exp()

    def log_pmf(self, k: float | Tensor) -> Tensor:
        """The logarithm of the probability of k failures. Arguments as for `pmf`."""
        return (-self.probs).log1p() * self._failures(k) + self.probs.log()

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random whole numbers of shape `shape` + batch_shape, in the dtype of probs."""
        with no_grad():
            return self.rsample(shape)

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """As `sample`; the gradients to probs are 0, since the results are whole numbers."""
        probs = repeated(sizes(self, shape), self.probs)
        # By the inverse of the distribution function.
        return floor(draw_uniform_like(probs).log() / (-probs).log1p())

    def entropy(self) -> Tensor:
        """The entropy of shape batch_shape."""
        p = self.probs
        return -((1 - p) * (-p).log1p() + p * p.log()) / p

    def cdf(self, k: float | Tensor) -> Tensor:
        """The probability of up to k failures. Arguments as for `pmf`."""
        return 1 - (1 - self.probs).pow(self._failures(k) + 1)

    def _failures(self, k: float | Tensor) -> float | Tensor:
        if not isinstance(k, (numbers.Real, Tensor)):
            raise TypeError(f"Geometric: k: got {type(k).__name__}; give a number or a Tensor")
        if not isinstance(k, Tensor) or k.is_floating_point():
            return k
        return k.astype(self.probs.dtype)

    def kl_divergence(self, other: Distribution) -> Tensor:
        """The divergence from this geometric distribution to another."""
        if not isinstance(other, Geometric):
            raise TypeError(
                f"Geometric: kl_divergence: got {type(other).__name__}; give a Geometric distribution"
            )
        p = self.probs
        q = other.probs
        return p.log() - q.log() + (1 / p - 1) * ((-p).log1p() - (-q).log1p())
