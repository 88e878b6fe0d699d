"""Gradients of several processes."""

from paddle_jax._core.world import environment
from paddle_jax.distributed.communication.group import default_group
from paddle_jax.distributed.data_parallel import averaged


def fused_allreduce_gradients(parameter_list, hcg):
    """Replaces gradients by their mean over the processes, for programs that add up gradients under
    `no_sync`. With one process they stay.

    Args:
        parameter_list: Parameters; those without a gradient are left out, which must be the same ones
            on all processes.
        hcg: what tells the group by its `get_data_parallel_group()`, or None for all processes.
    Raises:
        RuntimeError: there are several processes and no group of them; or they do not have
            the same gradients.
    """
    if environment.size() == 1:
        return
    group = default_group() if hcg is None else hcg.get_data_parallel_group()
    if group.is_member():
        averaged([p.grad for p in parameter_list if p.grad is not None], group)


def obtain_optimizer_parameters_list(optimizer):
    """The Parameters of an optimizer, those of its groups one after the other, as a list."""
    return list(optimizer._parameter_list)
