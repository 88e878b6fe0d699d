"""The Bernoulli distribution."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.number_limits import finfo
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distribution.distribution import as_tensors, repeated, sizes
from paddle_jax.distribution.draws import draw_uniform_like
from paddle_jax.distribution.exponential_family import ExponentialFamily
from paddle_jax.nn.functional.activation import softplus
from paddle_jax.tensor.search import where

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike, ShapeLike, TensorLike
    from paddle_jax._core.base.dtype import DType


def _clip_probs(probs: Tensor, dtype: DTypeLike) -> Tensor:
    """Probabilities a rounding step away from 0 and 1."""
    eps = finfo(dtype).eps
    return probs.clip(eps, 1 - eps)


class Bernoulli(ExponentialFamily):
    """Zeros and ones: one with probability probs.

    Args:
        probs: float, list, array or Tensor in 0..1; it is kept one rounding step away from 0 and 1.
    Raises:
        TypeError: probs is of another type.
    Example:
        >>> d = paddle.distribution.Bernoulli(0.25)
        >>> round(d.prob(paddle.to_tensor([0.0, 1.0])).tolist()[1], 4)
        0.25
    """

    # In an instance it hides the method of the base class.
    probs: Tensor

    def __init__(self, probs: TensorLike, name: str | None = None) -> None:
        self.name: str = name or "Bernoulli"
        # A number has the default dtype; what `_to_tensor` makes is float32.
        if isinstance(probs, float):
            made = as_tensors(probs)[0]
        else:
            made = self._to_tensor(probs)[0]
        self.dtype: DType = made.dtype
        self.probs = _clip_probs(made, self.dtype)
        self.logits: Tensor = self._probs_to_logits(self.probs, is_binary=True)
        super().__init__(tuple(self.probs.shape))

    @property
    def mean(self) -> Tensor:
        """probs."""
        return self.probs

    @property
    def variance(self) -> Tensor:
        """probs * (1 - probs)."""
        return self.probs * (1 - self.probs)

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random zeros and ones of shape `shape` + batch_shape."""
        with no_grad():
            probs = repeated(sizes(self, shape), self.probs)
            return (draw_uniform_like(probs) < probs).astype(self.dtype)

    def rsample(self, shape: ShapeLike = [], temperature: float = 1.0) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """(logits + logistic noise) / temperature: its sigmoid is a relaxed sample, with gradients to probs.

        Args:
            shape: list or tuple of ints.
            temperature: number > 0; the smaller, the closer the sigmoid is to 0 or 1.
        Returns:
            Tensor of shape `shape` + batch_shape.
        See: Maddison, Mnih and Teh, The Concrete Distribution, 2017.
        """
        if not isinstance(temperature, (numbers.Real, Tensor)):
            raise TypeError(
                f"Bernoulli: rsample: temperature: got {type(temperature).__name__}; give a number > 0"
            )
        logits = repeated(sizes(self, shape), self.logits)
        share = draw_uniform_like(logits)
        # log u - log(1 - u) of a uniform number is logistic noise.
        return (logits + share.log() - (-share).log1p()) / temperature

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of results up to value."""
        value = self._check_values_dtype_in_probs(self.probs, value)
        # The products with 0 give both cases the common shape.
        part = where(value < 1, 1 - self.probs + value * 0, value * 0 + 1 + self.probs * 0)
        return where(value < 0, part * 0, part)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a Tensor of zeros and ones."""
        value = self._check_values_dtype_in_probs(self.probs, value)
        return value * self.logits - softplus(self.logits)

    def prob(self, value: Tensor) -> Tensor:
        """The probability of a Tensor of zeros and ones."""
        return self.log_prob(value).exp()

    def entropy(self) -> Tensor:
        """The entropy of shape batch_shape."""
        return softplus(self.logits) - self.probs * self.logits

    def kl_divergence(self, other: Bernoulli) -> Tensor:
        """The divergence from this Bernoulli distribution to another."""
        return self.probs * (self.logits - other.logits) + softplus(other.logits) - softplus(self.logits)
