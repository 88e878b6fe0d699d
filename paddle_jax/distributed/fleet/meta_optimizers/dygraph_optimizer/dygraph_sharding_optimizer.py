"""The optimizer of the sharding parallelism of `fleet`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.lazy.device_put import put
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.distributed.data_parallel import averaged
from paddle_jax.distributed.expert_marks import expert_gradients, is_expert
from paddle_jax.distributed.sharding.optimizers import (
    GroupShardedOptimizer,
    OwnedRound,
    Pieces,
    _squares,
    anywhere,
    member_of,
    summed,
)

if TYPE_CHECKING:
    from paddle_jax.optimizer.optimizer import Optimizer


__all__ = []


def squares_in_grid(params: Any, grads: Any, hcg: Any, clip: Any, pieces: Any = None) -> Any:
    """The sum of squares of all gradients of the model.

    Parts of a Parameter are added over the model parallel group, stages of a pipeline over its group. A
    weight that several stages share counts once. Experts are added over the group of the clipping rule, else
    over the group of the grid that divides experts.

    Args:
        params: list of Parameters of this process.
        grads: list of their gradients, arrays.
        hcg: HybridCommunicateGroup.
        clip: the clipping rule.
        pieces: Group whose processes have pieces of the gradients, but whole experts; None where all are
            whole.
    """
    whole = []
    cut = []
    experts = []
    for parameter, gradient in zip(params, grads, strict=True):
        # A later stage has a copy of this weight, whole or a part, which the first stage counts.
        if not getattr(parameter, "is_firstly_shared", True):
            continue
        if is_expert(parameter):
            experts.append(gradient)
        elif getattr(parameter, "is_distributed", False):
            cut.append(gradient)
        else:
            whole.append(gradient)
    # Whole weights are the same on all processes of the model parallel group: they count once.
    total = _squares(whole) + summed(_squares(cut), hcg.get_model_parallel_group())
    if pieces is not None:
        total = summed(total, pieces)
    # Each process of this group has other experts, and the norm is that of all of them.
    moe_group = getattr(clip, "moe_group", None)
    if moe_group is None and hcg.get_moe_sharding_parallel_world_size() > 0:
        moe_group = hcg.get_expert_parallel_group()
    total = total + summed(_squares(experts), *([] if moe_group is None else [moe_group]))
    # Stages have different weights, whose squares add up.
    return summed(total, hcg.get_pipe_parallel_group())


def found_in_grid(found: Any, hcg: Any) -> Any:
    """Whether something was found on one of the processes that make a step together."""
    return anywhere(
        found,
        hcg.get_sharding_parallel_group(),
        hcg.get_data_parallel_group(),
        hcg.get_model_parallel_group(),
        hcg.get_pipe_parallel_group(),
    )


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
        return squares_in_grid(params, grads, self._hcg, self._clip)

    def _found_everywhere(self, found: Any) -> Any:
        return found_in_grid(found, self._hcg)


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
        places = {p.name: place for place, params in enumerate(self._parts.lists()) for p in params}
        # Each process updates its own experts.
        return {p.name: self._parts.group.rank for p in self._parameter_list} | places

    def reduce_gradients(self, parameter_list: Any, hcg: Any) -> None:
        """Replaces gradients by their mean over the sharding group. All processes must call it.

        Args:
            parameter_list: list of Parameters.
            hcg: HybridCommunicateGroup.
        """
        average_in_grid(parameter_list, hcg)


class DygraphShardingOptimizerV2(GroupShardedOptimizer):
    """An optimizer of which each process of the sharding group updates a piece of every parameter, and keeps
    the states of it. Parameters are whole outside of the step. Gradients are averaged by `reduce_gradients`
    only.

    Args:
        optimizer: Optimizer that treats each element for itself.
        hcg: HybridCommunicateGroup with a sharding degree above 1.
    Raises:
        TypeError: optimizer is none. ValueError: the sharding degree is 1, or the optimizer's rule cannot be
            followed in pieces.
    """

    def __init__(self, optimizer: Optimizer, hcg: Any) -> None:
        group = member_of("DygraphShardingOptimizerV2", hcg.get_sharding_parallel_group())
        # Something else than an Optimizer is refused by the base class below.
        # The list of an optimizer may describe groups of parameters.
        params = [p for part in getattr(optimizer, "_groups", ()) for p in part.params]
        parts = Pieces(params, group)
        super().__init__(optimizer, parts, None)
        self._hcg = hcg

    @property
    def _inner_opt(self) -> Optimizer:
        return self._inner

    def reduce_gradients(self, parameter_list: Any, hcg: Any) -> None:
        """Replaces gradients by their mean over the sharding group. All processes must call it.

        Args:
            parameter_list: list of Parameters.
            hcg: HybridCommunicateGroup.
        """
        average_in_grid(parameter_list, hcg)

    @no_grad()
    def step(self) -> None:
        """Updates pieces, and puts the parameters together. All processes must call it."""
        whole = [(p, p._grad) for p in self._parts.params if p._grad is not None]
        for parameter, gradient in whole:
            # For the time of the step a gradient is that of the piece.
            parameter._grad = wrap(put(self._parts.piece(parameter, gradient._value)))
        try:
            super().step()
        finally:
            for parameter, gradient in whole:
                # Whole again, as the program may look at it, or add to it.
                parameter._grad = gradient

    def _total(self, params: Any, grads: Any) -> Any:
        return squares_in_grid(params, grads, self._hcg, self._clip, self._parts.group)

    def _found_everywhere(self, found: Any) -> Any:
        return found_in_grid(found, self._hcg)

    def _update(self) -> None:
        super()._update()
        self._parts.gather()


@no_grad()
def average_in_grid(parameter_list: Any, hcg: Any) -> None:
    """Replaces gradients by their mean over the sharding group, those of experts by their mean over the
    processes that have the same expert.

    Args:
        parameter_list: list of Parameters.
        hcg: HybridCommunicateGroup.
    """
    group = hcg.get_sharding_parallel_group()
    if group.is_member():
        averaged([p._grad for p in parameter_list if p._grad is not None and not is_expert(p)], group)
    for expert_group, gradients in expert_gradients(parameter_list, hcg):
        averaged(gradients, expert_group)
