"""The binomial distribution."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.bernoulli import _clip_probs
from paddle_jax.distribution.distribution import Distribution, alike, repeated, sizes
from paddle_jax.tensor.creation import to_tensor, zeros_like
from paddle_jax.tensor.sampling import draw_binomial
from paddle_jax.tensor.search import where
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike
    from paddle_jax._core.base.dtype import DType


class Binomial(Distribution):
    """The number of successes in total_count trials that succeed with probability probs.

    Args:
        total_count: int, or Tensor of whole numbers >= 0.
        probs: number, or floating Tensor in 0..1 that broadcasts with total_count.
    Raises:
        ValueError: total_count is of another type.
        AttributeError: probs is of another type.
    Example:
        >>> round(paddle.distribution.Binomial(2, 0.5).prob(paddle.to_tensor(1.0)).item(), 4)
        0.5
    """

    total_count: Tensor

    def __init__(self, total_count: int | Tensor, probs: float | Tensor) -> None:
        if not isinstance(probs, (numbers.Real, Tensor)):
            raise AttributeError(f"Binomial: probs: got {type(probs).__name__}; give a number or a Tensor")
        if not isinstance(total_count, (int, Tensor)):
            raise ArgumentError(
                f"Binomial: total_count: got {type(total_count).__name__}; give an int or a Tensor"
            )
        if isinstance(probs, Tensor):
            self.dtype = probs.dtype
        else:
            self.dtype: DType | str = get_default_dtype()
        if isinstance(total_count, int):
            self._most = total_count
        else:
            self._most = None
        self.total_count, self.probs = alike(*(self._as_parameter(v) for v in (total_count, probs)))
        super().__init__(tuple(self.probs.shape))

    def _as_parameter(self, value: float | Tensor) -> Tensor:
        if isinstance(value, Tensor):
            return value.astype(self.dtype)
        return to_tensor(value, dtype=self.dtype)

    @property
    def mean(self) -> Tensor:
        """total_count * probs."""
        return self.total_count * self.probs

    @property
    def variance(self) -> Tensor:
        """total_count * probs * (1 - probs)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random whole numbers of shape `shape` + batch_shape, in the dtype of probs."""
        with no_grad():
            count, probs = repeated(sizes(self, shape), self.total_count, self.probs)
            return draw_binomial(count, probs).astype(self.dtype)

    def entropy(self) -> Tensor:
        """The entropy of shape batch_shape, by a sum over all results."""
        values, log_probs = self._results()
        return -where(values <= self.total_count, log_probs.exp() * log_probs, zeros_like(log_probs)).sum(0)

    def _results(self) -> tuple[Tensor, Tensor]:
        """The whole numbers up to the largest count along a new leading axis, and the logarithms of their
        probabilities (0 beyond the count)."""
        if self._most is not None:
            most = self._most
        else:
            most = int(self.total_count.max())
        values = arange(0, 1 + max(most, 0), dtype=self.dtype).reshape([-1] + [1] * self.probs.ndim)
        # Counts differ within a batch. Results above a count are computed at it, and left out by the callers.
        return values, self._log_mass(values.minimum(self.total_count))

    def _log_mass(self, k: Tensor) -> Tensor:
        n = self.total_count
        p = _clip_probs(self.probs, self.dtype)
        return (
            (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma() + k * p.log() + (n - k) * (-p).log1p()
        )

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a Tensor of whole numbers; minus infinity
        outside 0..total_count."""
        if not isinstance(value, Tensor):
            raise ArgumentError(f"Binomial: value: got {type(value).__name__}; give a Tensor")
        value, count, _ = alike(value.astype(self.dtype), self.total_count, self.probs)
        inside = (value >= 0).logical_and(value <= count)
        # Outside the formula would be NaN, and so would gradients.
        found = self._log_mass(where(inside, value, zeros_like(value)))
        return where(inside, found, zeros_like(found) - float("inf"))

    def prob(self, value: Tensor) -> Tensor:
        """The probability of a Tensor of whole numbers."""
        return self.log_prob(value).exp()

    def kl_divergence(self, other: Binomial) -> Tensor:
        """The divergence from this binomial distribution to another of the same batch shape; infinite if this
        one has more trials."""
        if tuple(self.batch_shape) != tuple(other.batch_shape):
            raise ValueError(
                f"Binomial: kl_divergence: batch shapes are {self.batch_shape} and "
                f"{other.batch_shape}; they must be equal"
            )
        values, log_probs = self._results()
        terms = log_probs.exp() * (log_probs - other.log_prob(values.minimum(self.total_count)))
        # Results beyond the count of a distribution have no probability.
        return where(values <= self.total_count, terms, zeros_like(terms)).sum(0)
