"""Gradients of several processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import launch_variables
from paddle_jax._core.execution.python_state import tensors_in
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.distributed.communication.data_movement import broadcast
from paddle_jax.distributed.communication.group import default_group
from paddle_jax.distributed.data_parallel import averaged, same_everywhere
from paddle_jax.distributed.expert_marks import is_expert
from paddle_jax.distributed.parallel import sync_params_buffers

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.distributed.fleet.base.topology import HybridCommunicateGroup
    from paddle_jax.nn import Layer
    from paddle_jax.optimizer.optimizer import Optimizer


def fused_allreduce_gradients(parameter_list: Any, hcg: Any) -> None:
    """Replaces gradients by their mean over the data parallel processes and their sum over the segments of a
    sequence, for programs that add up gradients under `no_sync`. With one process they stay.

    Args:
        parameter_list: Parameters; those without a gradient are left out, which must be the same ones
            on all processes.
        hcg: what tells the group by its `get_data_parallel_group()`, or None for all processes.
    Raises:
        RuntimeError: there are several processes and no group of them; or they do not have
            the same gradients.
    """
    if launch_variables.size() == 1:
        return
    gradients = [p.grad for p in parameter_list if p.grad is not None]
    if hcg is None:
        averaged(gradients, default_group())
    else:
        reduce_gradients(gradients, hcg)


@no_grad()
def reduce_gradients(gradients: Sequence[Tensor], hcg: Any) -> None:
    """Replaces gradients by their mean over the data parallel processes, summed over segments of a sequence:
    each segment has a part of the loss.

    Args:
        gradients: list of Tensors, the same on all processes.
        hcg: HybridCommunicateGroup.
    """
    segments = hcg.get_sep_parallel_world_size() * hcg.get_context_parallel_world_size()
    if segments == 1:
        group = hcg.get_data_parallel_group()
    else:
        group = hcg._fused_groups["data", "sep", "context"]
    if group.is_member():
        averaged(gradients, group)
        if segments > 1:
            for gradient in gradients:
                # The mean is over replicas and segments, and segments are to be summed.
                gradient.scale_(segments)


def fused_allreduce_gradients_with_group(
    parameter_list: Sequence[Tensor],
    group: Any,
    bucket_size: Any = 128 * 1024 * 1024,
    scale: float | None = None,
) -> None:
    """Replaces gradients by their mean over the processes of a group, or by their sum times a number.

    Args:
        parameter_list: Parameters; those without a gradient are left out, which must be the same ones
            on all processes.
        group: Group, or None for all processes.
        bucket_size: bytes that travel together. Default 128 MiB.
        scale: number. Default: 1 / number of processes.
    """
    gradients = [p.grad for p in parameter_list if p.grad is not None]
    count = launch_variables.size()
    if count > 1:
        if group is None:
            group = default_group()
        count = group.nranks
        if group.is_member():
            averaged(gradients, group, bucket_size)
    # `averaged` has divided by the count, and Paddle's scale is one for sums.
    if scale is not None and scale * count != 1:
        with no_grad():
            for gradient in gradients:
                gradient.scale_(scale * count)


def unwrap_optimizer(optimizer: Optimizer, optimizer_instances: Any = ()) -> Any:
    """The optimizer inside of wrappers.

    Args:
        optimizer: Optimizer, or an object that holds one as `_inner_opt`.
        optimizer_instances: tuple of classes, the wrappers that are opened.
    """
    while isinstance(optimizer, optimizer_instances):
        optimizer = optimizer._inner_opt
    return optimizer


def obtain_optimizer_parameters_list(optimizer: Any) -> list[Any]:
    """The Parameters of an optimizer, those of its groups one after the other, as a list."""
    return list(optimizer._parameter_list)


def _broadcast_parameters(model: Layer, group: Any, with_parts: bool) -> None:
    """Gives all processes of a group the Parameters and buffers of its first one.

    Args:
        model: Layer.
        group: Group.
        with_parts: bool, whether Parameters of which each process has its part are among them.
    """
    tensors = [
        tensor
        for tensor in (*model.parameters(), *model.buffers())
        # Experts are different on each process.
        if not is_expert(tensor) and (with_parts or not getattr(tensor, "is_distributed", False))
    ]
    if group.is_member() and tensors:
        same_everywhere(tensors, group)


def broadcast_mp_parameters(model: Layer, hcg: HybridCommunicateGroup, fuse_params: bool = True) -> None:
    """Gives the model parallel group the Parameters of its first process, but not parts of a Parameter.

    Args:
        model: Layer.
        hcg: HybridCommunicateGroup.
        fuse_params: accepted.
    """
    _broadcast_parameters(model, hcg.get_model_parallel_group(), with_parts=False)


def broadcast_dp_parameters(model: Layer, hcg: HybridCommunicateGroup, fuse_params: bool = True) -> None:
    """Gives the data parallel group the Parameters of its first process. Arguments as for
    `broadcast_mp_parameters`."""
    _broadcast_parameters(model, hcg.get_data_parallel_group(), with_parts=True)


def broadcast_sharding_parameters(
    model: Layer, hcg: HybridCommunicateGroup, fuse_params: bool = True
) -> None:
    """Gives the sharding group the Parameters of its first process. Arguments as for
    `broadcast_mp_parameters`."""
    _broadcast_parameters(model, hcg.get_sharding_parallel_group(), with_parts=True)


def broadcast_sep_parameters(model: Layer, hcg: HybridCommunicateGroup, fuse_params: bool = True) -> None:
    """Gives the processes of one sequence the Parameters of the first one. Arguments as for
    `broadcast_mp_parameters`."""
    _broadcast_parameters(model, hcg.get_sep_parallel_group(), with_parts=True)


def broadcast_moe_sharding_parameters(
    model: Layer, hcg: HybridCommunicateGroup, fuse_params: bool = True
) -> None:
    """Gives the processes that have the same experts the Parameters of the first one. Arguments as for
    `broadcast_mp_parameters`; the grid is an EPHybridCommunicateGroup."""
    sync_params_buffers(
        model,
        hcg.get_moe_sharding_parallel_group(),
        hcg.get_moe_sharding_parallel_group_src_rank(),
        is_moe_sharding_parallel=True,
    )


def broadcast_input_data(hcg: HybridCommunicateGroup, *inputs: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Gives the model parallel group the inputs of its first process.

    Args:
        hcg: HybridCommunicateGroup.
        inputs, kwargs: Tensors, which change in place; Tensors in lists, tuples and dicts; other values stay.
    Returns:
        inputs and kwargs.
    """
    group = hcg.get_model_parallel_group()
    if group.is_member():
        for tensor in tensors_in([inputs, kwargs]):
            broadcast(tensor, group.ranks[0], group)
    return inputs, kwargs
