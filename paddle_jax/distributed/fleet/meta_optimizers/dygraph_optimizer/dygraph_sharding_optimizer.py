"""The optimizer of the sharding parallelism of `fleet`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.distributed.data_parallel import averaged
from paddle_jax.distributed.sharding.optimizers import OwnedRound, _squares

if TYPE_CHECKING:
    from paddle_jax.optimizer.optimizer import Optimizer


__all__ = []


class DygraphShardingOptimizer(OwnedRound):
    """An optimizer of which each process of the sharding group updates some parameters and keeps their
    states. Gradients are averaged by `reduce_gradients` only; `fleet.distributed_optimizer` gives one that
    does all in its step.

    Args:
        optimizer: Optimizer.
        hcg: HybridCommunicateGroup.
    Raises:
        TypeError: optimizer is none.
    """

    def __init__(self, optimizer: Optimizer, hcg: Any) -> None:
        super().__init__(optimizer, hcg.get_sharding_parallel_group())
        self._hcg = hcg

    @property
    def _inner_opt(self) -> Any:
        return self._inner

    @property
    def _param2rank(self) -> Any:
        """{name of a parameter: place in the group of the process that updates it}."""
        if self._parts is None:
            return {p.name: 0 for p in self._parameter_list}
        return {p.name: place for place, params in enumerate(self._parts.lists()) for p in params}

    @no_grad()
    def reduce_gradients(self, parameter_list: Any, hcg: Any) -> None:
        """Replaces gradients by their mean over the sharding group. All processes must call it.

        Args:
            parameter_list: list of Parameters.
            hcg: HybridCommunicateGroup.
        """
        group = hcg.get_sharding_parallel_group()
        if group.is_member():
            averaged([p._grad for p in parameter_list if p._grad is not None], group)

    def _total(self, params: Any, grads: Any) -> Any:
        return _squares(grads)  # each process has all of them
