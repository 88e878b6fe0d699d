"""The optimizer that `fleet.distributed_optimizer` makes."""

from __future__ import annotations

import functools as ft
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.distributed.expert_marks import is_expert
from paddle_jax.distributed.fleet.meta_optimizers.dygraph_optimizer.dygraph_sharding_optimizer import (
    DygraphShardingOptimizer,
    DygraphShardingOptimizerV2,
    GridOptimizer,
    average_in_grid,
    squares_in_grid,
)
from paddle_jax.distributed.fleet.utils.hybrid_parallel_util import reduce_gradients
from paddle_jax.distributed.parallel import ParallelMode
from paddle_jax.distributed.sharding.optimizers import _scaled
from paddle_jax.nn.clip import ClipGradByGlobalNorm

if TYPE_CHECKING:
    from paddle_jax.optimizer.optimizer import Optimizer


__all__ = []


class HybridParallelClipGrad:
    """`ClipGradByGlobalNorm` for a process in a grid: the norm is that of the whole model.

    Args:
        clip: ClipGradByGlobalNorm.
        hcg: HybridCommunicateGroup.
        split_norm_comm, timers: accepted.
    Attributes:
        _clip, _hcg: as given.
    Raises:
        TypeError: clip is another rule.
    """

    def __init__(self, clip: Any, hcg: Any, split_norm_comm: bool = False, timers: Any = None) -> None:
        if not isinstance(clip, ClipGradByGlobalNorm):
            raise TypeError(
                f"HybridParallelClipGrad: clip: got {type(clip).__name__}; it must be a ClipGradByGlobalNorm"
            )
        self._clip = clip
        self._hcg = hcg

    @property
    def clip_norm(self) -> float:
        """The largest common norm."""
        return self._clip.clip_norm

    @no_grad()
    def __call__(self, params_grads: Any) -> list[tuple[Any, Any]]:
        """The pairs with clipped gradients. All processes must call it."""
        pairs = [(parameter, gradient) for parameter, gradient in params_grads if gradient is not None]
        chosen = [pair for pair in pairs if getattr(pair[0], "need_clip", True)]
        params = [parameter for parameter, _ in chosen]
        arrays = [gradient._value for _, gradient in chosen]
        total = squares_in_grid(params, arrays, self._hcg, self._clip)
        # A process without gradients only takes part in the exchange above.
        if arrays:
            for (_, gradient), array in zip(chosen, _scaled(arrays, total, self.clip_norm), strict=True):
                gradient._rebind(array)
        return pairs


class HybridParallelOptimizer(GridOptimizer):
    """An optimizer round another one: gradients are averaged where the model has not done it, the norm that
    they are clipped by is that of the whole model, and with sharding_degree above 1 each process updates a
    part of the parameters and keeps their states.

    Args:
        optimizer: Optimizer.
        hcg: HybridCommunicateGroup.
        strategy: DistributedStrategy. With `sharding_configs.split_param` each process updates a piece of
            every parameter.
    Raises:
        ValueError: parameters are updated in pieces, and the optimizer's rule looks at whole ones.
    Attributes:
        _hcg, _strategy: as given.
        _split: DygraphShardingOptimizerV2 that updates pieces of parameters, or None.
        _use_dp_mode: bool, whether data parallelism is all there is; the model averages gradients then.
        _need_dp: bool, whether there are data parallel processes.
        _dp_enable: bool, whether a step averages gradients over them.
        _sharding_enable: bool, whether sharding_degree is above 1.
        _sep_enable: bool, whether sep_degree is above 1.
    """

    def __init__(self, optimizer: Optimizer, hcg: Any, strategy: Any = None) -> None:
        # Before the base class, which takes the clip out of the optimizer: pieces clip as well.
        self._split = self._in_pieces(optimizer, hcg, strategy)
        super().__init__(optimizer, hcg)
        self._strategy = strategy
        self._use_dp_mode = hcg.get_parallel_mode() == ParallelMode.DATA_PARALLEL
        self._need_dp = hcg.get_data_parallel_world_size() > 1
        self._dp_enable = self._need_dp and not self._use_dp_mode
        self._sharding_enable = hcg.get_sharding_parallel_world_size() > 1
        self._sep_enable = hcg.get_sep_parallel_world_size() > 1

    @staticmethod
    def _in_pieces(optimizer: Any, hcg: Any, strategy: Any) -> DygraphShardingOptimizerV2 | None:
        """The optimizer of pieces, where a strategy asks for it."""
        if strategy is None or hcg.get_sharding_parallel_world_size() == 1:
            return None
        if not strategy.hybrid_configs["sharding_configs"].split_param:
            return None
        return DygraphShardingOptimizerV2(optimizer, hcg)

    @ft.cached_property
    def _inner_opt(self) -> Any:
        """The optimizer inside, for libraries that open it: with sharding_degree above 1 one that reduces
        gradients over the sharding group and updates a part."""
        if self._split is not None:
            return self._split
        if not self._sharding_enable:
            return self._inner
        # The clip is taken out of the inner optimizer already, so its settings are handed on.
        sharded = DygraphShardingOptimizer(self._inner, self._hcg)
        sharded._norm = self._norm
        sharded._clip = self._clip
        sharded._clipped = self._clipped
        return sharded

    @no_grad()
    def step(self) -> None:
        """Updates the parameters. All processes must call it."""
        # DataParallel has averaged the gradients in the backward pass already.
        if not self._use_dp_mode:
            parameters = self._with_gradients()
            average_in_grid(parameters, self._hcg)
            # Copies of the model in other places of "data" have experts of their own.
            reduce_gradients([p._grad for p in parameters if not is_expert(p)], self._hcg)
        self._step(self._parameter_list)

    def _step(self, parameters_list: Any) -> None:
        """The update alone, for trainers that have reduced the gradients.

        Args:
            parameters_list: accepted.
        """
        if self._split is not None:
            self._split.step()
        else:
            super().step()

    def state_dict(self) -> dict[str, Any]:
        """The states of this process; see `Optimizer.state_dict`. Of parameters in pieces: of its pieces."""
        return (self._split or self._inner).state_dict()

    def sharded_state_dict(self, model_sharded_state_dict: dict[str, Any]) -> dict[str, Any]:
        """The states of this process as parts; see `AdamW.sharded_state_dict`."""
        return (self._split or self._inner).sharded_state_dict(model_sharded_state_dict)

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over a state of this process; see `Optimizer.set_state_dict`."""
        (self._split or self._inner).set_state_dict(state_dict)

    load_state_dict = set_state_dict
