"""The optimizer of the sharding parallelism of `fleet`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.distributed.data_parallel import averaged
from paddle_jax.distributed.sharding.optimizers import OwnedRound, _squares, anywhere, summed

if TYPE_CHECKING:
    from paddle_jax.optimizer.optimizer import Optimizer


__all__ = []


class GridOptimizer(OwnedRound):
    """An optimizer of a process in a grid of processes: each process of the sharding group updates some
    parameters, and norms are those of the whole model.

    Args:
        optimizer: Optimizer.
        hcg: HybridCommunicateGroup.
    """

    def __init__(self, optimizer: Optimizer, hcg: Any) -> None:
        super().__init__(optimizer, hcg.get_sharding_parallel_group())
        self._hcg = hcg

    def _total(self, params: Any, grads: Any) -> Any:
        """The sum of squares of all gradients of the model.

        Parts of a Parameter are added over the model parallel group, stages of a pipeline over its group. A
        weight that several stages share counts once. Experts are added over the group of the clipping rule.
        """
        whole = []
        cut = []
        experts = []
        for parameter, gradient in zip(params, grads, strict=True):
            if getattr(parameter, "no_sync", False):
                experts.append(gradient)
            elif getattr(parameter, "is_distributed", False):
                cut.append(gradient)
            elif getattr(parameter, "is_firstly_shared", True):
                whole.append(gradient)
        total = _squares(whole) + summed(_squares(cut), self._hcg.get_model_parallel_group())
        # Each process of this group has other experts, and the norm is that of all of them.
        moe_group = getattr(self._clip, "moe_group", None)
        total = total + summed(_squares(experts), *([] if moe_group is None else [moe_group]))
        return summed(total, self._hcg.get_pipe_parallel_group())

    def _found_everywhere(self, found: Any) -> Any:
        return anywhere(
            found,
            self._hcg.get_sharding_parallel_group(),
            self._hcg.get_data_parallel_group(),
            self._hcg.get_model_parallel_group(),
            self._hcg.get_pipe_parallel_group(),
        )


class DygraphShardingOptimizer(GridOptimizer):
    """An optimizer of which each process of the sharding group updates some parameters and keeps their
    states. Gradients are averaged by `reduce_gradients` only; `fleet.distributed_optimizer` gives one that
    does all in its step.

    Args:
        optimizer: Optimizer.
        hcg: HybridCommunicateGroup.
    Raises:
        TypeError: optimizer is none.
    """

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
