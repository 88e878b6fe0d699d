"""Gradients of several processes."""

from paddle_jax.distributed.parallel import get_world_size


def fused_allreduce_gradients(parameter_list, hcg):
    """Adds up the gradients of all processes. Where there is one process they are complete as they are.

    Args:
        parameter_list: Parameters.
        hcg: Paddle's description of the groups of processes, or None.
    Raises:
        RuntimeError: the launcher started several processes.
    """
    if get_world_size() > 1:
        raise RuntimeError("fused_allreduce_gradients: there are several processes and no group of them; run one process, it drives all devices")
