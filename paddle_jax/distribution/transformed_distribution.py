"""Distributions of transformed random values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.distribution.distribution import Distribution, sum_rightmost
from paddle_jax.distribution.independent import Independent
from paddle_jax.distribution.transform import ChainTransform, Transform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._annotations import ShapeLike
    from paddle_jax._core.tensors.tensor import Tensor


class TransformedDistribution(Distribution):
    """The distribution of transforms[-1](... transforms[0](x)), where x follows `base`.

    Args:
        base: Distribution.
        transforms: list or tuple of Transforms; the first is applied first.
    Raises:
        TypeError: base is no Distribution, or transforms no sequence of Transforms.
        ValueError: the transforms need values of more axes than base has.
    Example:
        >>> normal = paddle.distribution.Normal(0.0, 1.0)
        >>> d = paddle.distribution.TransformedDistribution(normal, [paddle.distribution.ExpTransform()])
        >>> round(d.log_prob(paddle.to_tensor(1.0)).item(), 4)
        -0.9189
    """

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        if not isinstance(base, Distribution):
            raise TypeError(f"TransformedDistribution: base: got {type(base).__name__}; give a Distribution")
        if not isinstance(transforms, (list, tuple)) or not all(isinstance(t, Transform) for t in transforms):
            raise TypeError(
                f"TransformedDistribution: transforms: got {type(transforms).__name__}; "
                "give a list or tuple of Transforms"
            )
        chain = ChainTransform(transforms)
        rank = chain._domain.event_rank
        shape = base.batch_shape + base.event_shape
        if len(shape) < rank:
            raise ValueError(
                f"TransformedDistribution: base: its shape is {shape}; "
                f"the transforms need at least {rank} axes"
            )
        if rank > len(base.event_shape):
            # The transforms take several numbers as one value, which are separate in base.
            base = Independent(base, rank - len(base.event_shape))
        self._base, self._transforms = base, list(transforms)
        shape = tuple(chain.forward_shape(shape))
        kept = len(shape) - chain._codomain.event_rank - max(len(base.event_shape) - rank, 0)
        super().__init__(shape[:kept], shape[kept:])

    def sample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values: those of base, transformed."""
        x = self._base.sample(shape)
        for transform in self._transforms:
            x = transform.forward(x)
        return x

    def rsample(self, shape: ShapeLike = []) -> Tensor:  # noqa: B006  Paddle's default, never changed
        """Random values with gradients to the parameters of base and of the transforms."""
        x = self._base.rsample(shape)
        for transform in self._transforms:
            x = transform.forward(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density of a Tensor: that of base where the value comes from, less the
        transforms' log-determinants."""
        total = 0.0
        rank = len(self.event_shape)
        for transform in reversed(self._transforms):
            x = transform.inverse(value)
            # The number of axes of a value before this transform.
            rank += transform._domain.event_rank - transform._codomain.event_rank
            total = total - sum_rightmost(
                transform.forward_log_det_jacobian(x), rank - transform._domain.event_rank
            )
            value = x
        return total + sum_rightmost(self._base.log_prob(value), rank - len(self._base.event_shape))


Transform._distribution_class = TransformedDistribution
