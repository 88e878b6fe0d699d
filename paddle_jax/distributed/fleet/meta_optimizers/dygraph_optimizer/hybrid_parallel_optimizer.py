"""The optimizer that `fleet.distributed_optimizer` makes."""

from __future__ import annotations

import functools as ft
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.distributed.data_parallel import averaged
from paddle_jax.distributed.fleet.meta_optimizers.dygraph_optimizer.dygraph_sharding_optimizer import (
    DygraphShardingOptimizer,
    GridOptimizer,
)
from paddle_jax.distributed.fleet.utils.hybrid_parallel_util import reduce_gradients
from paddle_jax.distributed.parallel import ParallelMode

if TYPE_CHECKING:
    from paddle_jax.optimizer.optimizer import Optimizer


__all__ = []


class HybridParallelOptimizer(GridOptimizer):
    """An optimizer round another one: gradients are averaged where the model has not done it, the norm that
    they are clipped by is that of the whole model, and with sharding_degree above 1 each process updates a
    part of the parameters and keeps their states.

    Args:
        optimizer: Optimizer.
        hcg: HybridCommunicateGroup.
        strategy: accepted.
    Attributes:
        _hcg, _strategy: as given.
        _use_dp_mode: bool, whether data parallelism is all there is; the model averages gradients then.
        _need_dp: bool, whether there are data parallel processes.
        _dp_enable: bool, whether a step averages gradients over them.
        _sharding_enable: bool, whether sharding_degree is above 1.
        _sep_enable: bool, whether sep_degree is above 1.
    """

    def __init__(self, optimizer: Optimizer, hcg: Any, strategy: Any = None) -> None:
        super().__init__(optimizer, hcg)
        self._strategy = strategy
        self._use_dp_mode = hcg.get_parallel_mode() == ParallelMode.DATA_PARALLEL
        self._need_dp = hcg.get_data_parallel_world_size() > 1
        self._dp_enable = self._need_dp and not self._use_dp_mode
        self._sharding_enable = hcg.get_sharding_parallel_world_size() > 1
        self._sep_enable = hcg.get_sep_parallel_world_size() > 1

    @ft.cached_property
    def _inner_opt(self) -> Any:
        """The optimizer inside, for libraries that open it: with sharding_degree above 1 one that reduces
        gradients over the sharding group and updates a part."""
        if not self._sharding_enable:
            return self._inner
        sharded = DygraphShardingOptimizer(self._inner, self._hcg)
        sharded._norm = self._norm
        sharded._clip = self._clip
        return sharded

    @no_grad()
    def step(self) -> None:
        """Updates the parameters. All processes must call it."""
        # Experts are on one process only, so there is nothing to average.
        grads = [p._grad for p in self._with_gradients() if not getattr(p, "no_sync", False)]
        # DataParallel has averaged the gradients in the backward pass already.
        if not self._use_dp_mode:
            group = self._hcg.get_sharding_parallel_group()
            if group.is_member():
                averaged(grads, group)
            reduce_gradients(grads, self._hcg)
        super().step()

    def _step(self, parameters_list: Any) -> None:
        """The update alone, for trainers that have reduced the gradients.

        Args:
            parameters_list: accepted.
        """
        super().step()
