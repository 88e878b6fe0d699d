"""Models for training in several processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.distributed.fleet.base.registry import Current

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer


__all__ = []


def distributed_model(model: Layer) -> Layer:
    """A Layer for training in several processes.

    Args:
        model: Layer.
    Returns:
        DataParallel, TensorParallel or ShardingParallel round it, as the degrees of `fleet.init` say; the
        Layer itself where there is one process.
    Raises:
        AttributeError: `fleet.init` was not called. AssertionError: nothing in the Layer is trained.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> _ = fleet.init(is_collective=True)
        >>> net = paddle.nn.Linear(2, 1)
        >>> fleet.distributed_model(net) is net
        True
    """
    return Current.fleet.distributed_model(model)
