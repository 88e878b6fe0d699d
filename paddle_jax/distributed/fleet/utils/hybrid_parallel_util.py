"""Gradients of several processes."""

import os


def fused_allreduce_gradients(parameter_list, hcg):
    """Adds up the gradients of all processes. Where there is one process they are complete as they are.

    Args:
        parameter_list: Parameters.
        hcg: Paddle's description of the groups of processes, or None.
    Raises:
        RuntimeError: the launcher started several processes.
    """
    if int(os.environ.get("PADDLE_TRAINERS_NUM", "1")) > 1:
        raise RuntimeError("fused_allreduce_gradients: there are several processes and no group of them; run one process, it drives all devices")
