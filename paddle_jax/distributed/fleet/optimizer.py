"""The optimizer of programs with several kinds of parallelism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.distributed.fleet.base.registry import Current

if TYPE_CHECKING:
    from paddle_jax.distributed.fleet.base.distributed_strategy import DistributedStrategy
    from paddle_jax.optimizer.optimizer import Optimizer


__all__ = []


def distributed_optimizer(optimizer: Optimizer, strategy: DistributedStrategy | None = None) -> Any:
    """An optimizer for training in several processes.

    Args:
        optimizer: Optimizer.
        strategy: DistributedStrategy in place of that of `fleet.init`; the degrees stay.
    Returns:
        HybridParallelOptimizer round it; the optimizer itself where there is one process.
    Raises:
        AttributeError: `fleet.init` was not called.
        NotImplementedError: the strategy asks for what static programs of several processes cannot do.
    """
    return Current.fleet.distributed_optimizer(optimizer, strategy)
