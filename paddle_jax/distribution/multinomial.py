"""The multinomial distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.distribution import Distribution, repeated, sizes
from paddle_jax.distribution.draws import draw_counts
from paddle_jax.tensor.creation import ones_like, zeros_like
from paddle_jax.tensor.search import where
from paddle_jax.tensor.sequences import arange

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike


class Multinomial(Distribution):
    """How often each class comes up in total_count draws.

    Args:
        total_count: int >= 1.
        probs: floating Tensor [..., classes] of weights >= 0; they are divided by their sum.
    Raises:
        ValueError: total_count is no int >= 1, or probs has no axis.
        AttributeError: probs is no Tensor.
    Example:
        >>> paddle.distribution.Multinomial(4, paddle.to_tensor([1.0, 3.0])).mean.tolist()
        [1.0, 3.0]
    """

    def __init__(self, total_count: int, probs: Tensor) -> None:
        if not isinstance(total_count, int) or total_count < 1:
            raise ValueError(f"Multinomial: total_count: got {total_count}; it must be an int >= 1")
        if not isinstance(probs, Tensor):
            raise AttributeError(f"Multinomial: probs: got {type(probs).__name__}; give a Tensor")
        if probs.ndim < 1:
            raise ValueError("Multinomial: probs: got one number; it must have at least one axis")
        self.probs = probs / probs.sum(-1, keepdim=True)
        self.total_count = total_count
        super().__init__(tuple(probs.shape[:-1]), tuple(probs.shape[-1:]))

    @property
    def mean(self) -> Tensor:
        """total_count * probs."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """total_count * probs * (1 - probs)."""
        return self.probs * self.total_count * (1 - self.probs)

    def prob(self, value: Tensor) -> Tensor:
        """The probability of counts, a Tensor [..., classes]."""
        return self.log_prob(value).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of counts, a Tensor [..., classes] of the dtype of
        probs or of integers."""
        if not isinstance(value, Tensor):
            raise AttributeError(f"Multinomial: value: got {type(value).__name__}; give a Tensor")
        value = value.astype(self.probs.dtype)
        probs, value = repeated((), self.probs, value)
        needed = value > 0
        # 0 * log(0) counts as 0, also in gradients.
        terms = where(needed, value * where(needed, probs, ones_like(probs)).log(), zeros_like(value))
        return (value.sum(-1) + 1).lgamma() + (terms - (value + 1).lgamma()).sum(-1)

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random counts of shape `shape` + batch_shape + event_shape, in the dtype of probs."""
        with no_grad():
            return draw_counts(repeated(sizes(self, shape), self.probs), self.total_count)

    def entropy(self) -> Tensor:
        """The entropy of shape batch_shape: each count is binomial, so the means of log(count!) are sums
        over 0..total_count."""
        # All possible counts, along an axis before those of the batch.
        n = self.total_count
        p = self.probs
        k = arange(0, n + 1, dtype=p.dtype).reshape([-1] + [1] * p.ndim)
        log_factorial = (k + 1).lgamma()
        log_choices = log_factorial[-1] - log_factorial - log_factorial.flip([0])
        # As powers: logarithms would be NaN for a probability of 0 or 1.
        mass = log_choices.exp() * p.pow(k) * (1 - p).pow(n - k)
        positive = p > 0
        own = where(positive, p * where(positive, p, ones_like(p)).log(), zeros_like(p)).sum(-1)
        return -own * n - log_factorial.flatten()[-1] + (mass * log_factorial).sum(0).sum(-1)
