"""The optimizer of programs with several kinds of parallelism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.distributed.data_parallel import averaged
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.fleet.utils.hybrid_parallel_util import reduce_gradients
from paddle_jax.distributed.parallel import ParallelMode
from paddle_jax.distributed.sharding.optimizers import OwnedRound, _squares, anywhere, summed

if TYPE_CHECKING:
    from paddle_jax.distributed.fleet.base.distributed_strategy import DistributedStrategy
    from paddle_jax.optimizer.optimizer import Optimizer


__all__ = []


class HybridParallelOptimizer(OwnedRound):
    """An optimizer round another one: gradients are averaged where the model has not done it, the norm that
    they are clipped by is that of the whole model, and with sharding_degree above 1 each process updates a
    part of the parameters and keeps their states.

    Args:
        optimizer: Optimizer.
        hcg: HybridCommunicateGroup.
        strategy: accepted.
    """

    def __init__(self, optimizer: Optimizer, hcg: Any, strategy: Any = None) -> None:
        super().__init__(optimizer, hcg.get_sharding_parallel_group())
        self._hcg = hcg
        self._strategy = strategy

    @no_grad()
    def step(self) -> None:
        """Updates the parameters. All processes must call it."""
        grads = [p._grad for p in self._with_gradients() if not getattr(p, "no_sync", False)]
        if self._hcg.get_parallel_mode() != ParallelMode.DATA_PARALLEL:
            group = self._hcg.get_sharding_parallel_group()
            if group.is_member():
                averaged(grads, group)
            reduce_gradients(grads, self._hcg)
        super().step()

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
