"""Batch axes taken as parts of one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.distribution.distribution import Distribution, sum_rightmost

if TYPE_CHECKING:
    from paddle_jax._annotations import ShapeLike
    from paddle_jax._core.tensors.tensor import Tensor


class Independent(Distribution):
    """The distribution whose values consist of all results along the last batch axes of `base`.

    Args:
        base: Distribution.
        reinterpreted_batch_rank: how many of its last batch axes become event axes, at least 1.
    Raises:
        TypeError: base is no Distribution.
        ValueError: there are not so many batch axes.
    Example:
        >>> d = paddle.distribution.Independent(paddle.distribution.Normal([0.0, 1.0], [1.0, 1.0]), 1)
        >>> d.batch_shape, d.event_shape
        ((), (2,))
    """

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Distribution):
            raise TypeError(f"Independent: base: got {type(base).__name__}; give a Distribution")
        rank = reinterpreted_batch_rank
        if not (isinstance(rank, int) and 0 < rank <= len(base.batch_shape)):
            raise ValueError(
                f"Independent: reinterpreted_batch_rank: got {rank}; "
                f"base has {len(base.batch_shape)} batch axes, use 1 up to that"
            )
        self._base = base
        self._reinterpreted_batch_rank = rank
        kept = len(base.batch_shape) - rank
        super().__init__(base.batch_shape[:kept], base.batch_shape[kept:] + base.event_shape)

    @property
    def mean(self) -> Tensor:
        """The mean of base."""
        return self._base.mean

    @property
    def variance(self) -> Tensor:
        """The variance of base."""
        return self._base.variance

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values, those of base."""
        return self._base.sample(shape)

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values with gradients to the parameters, those of base."""
        return self._base.rsample(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density: that of base, summed over the event axes."""
        return sum_rightmost(self._base.log_prob(value), self._reinterpreted_batch_rank)

    def prob(self, value: Tensor) -> Tensor:
        """The density of a Tensor."""
        return self.log_prob(value).exp()

    def entropy(self) -> Tensor:
        """The entropy: that of base, summed over the event axes."""
        return sum_rightmost(self._base.entropy(), self._reinterpreted_batch_rank)
