"""The continuous uniform distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.distribution.distribution import Distribution, alike, common_shape, repeated, sizes
from paddle_jax.distribution.draws import draw_uniform_like
from paddle_jax.distribution.normal import _parameters
from paddle_jax.tensor.random import uniform

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike, TensorLike
    from paddle_jax._core.base.dtype import DType
    from paddle_jax._core.tensors.tensor import Tensor


class Uniform(Distribution):
    """The uniform distribution on the open interval from low to high.

    Args:
        low, high: numbers, lists, arrays or Tensors that broadcast. Tensors and other values do not mix.
    Attributes:
        name: str, for operations.
        all_arg_is_float: bool, whether both arguments are numbers of Python.
        batch_size_unknown: bool, False, as in Paddle.
        low, high: Tensor, of one shape.
        dtype: dtype of both.
    Raises:
        TypeError: a parameter is of another type.
        ValueError: one parameter is a Tensor and the other is not.
    Example:
        >>> paddle.distribution.Uniform(0.0, 4.0).prob(paddle.to_tensor([1.0, 5.0])).tolist()
        [0.25, 0.0]
    """

    high: Tensor
    low: Tensor

    def __init__(self, low: TensorLike, high: TensorLike, name: str | None = None) -> None:
        self.name: str = name or "Uniform"
        self.all_arg_is_float: bool = all(isinstance(a, (int, float)) for a in (low, high))
        self.batch_size_unknown = False
        self.low, self.high = _parameters(self, low, high)
        self.dtype: DType = self.low.dtype
        super().__init__(common_shape(self.low, self.high))

    def sample(self, shape: ShapeLike = [], seed: int = 0) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values.

        Args:
            shape: list or tuple of ints.
            seed: a number other than 0 gives the same values at each call.
        Returns:
            Tensor of shape `shape` + batch_shape, with gradients to low and high.
        """
        low, high = repeated(sizes(self, shape), self.low, self.high)
        if seed:
            # A seed of its own leaves the generator alone.
            share = uniform(list(low.shape), low.dtype, seed=seed)
        else:
            share = draw_uniform_like(low)
        return low + (high - low) * share

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density; minus infinity outside."""
        value = self._check_values_dtype_in_probs(self.low, value)
        return self._inside(value).log() - (self.high - self.low).log()

    def probs(self, value: Tensor) -> Tensor:
        """The density of a Tensor."""
        value = self._check_values_dtype_in_probs(self.low, value)
        return self._inside(value) / (self.high - self.low)

    def _inside(self, value: Tensor) -> Tensor:
        return (self.low < value).logical_and(value < self.high).astype(self.dtype)

    def entropy(self) -> Tensor:
        """log(high - low)."""
        low, high = alike(self.low, self.high)
        return (high - low).log()
