"""Flags that decide how the processes of a program exchange arrays."""

from paddle_jax._core.base import flags

flags.declare("collective_check", True)
flags.declare("collective_shared_memory", True)
flags.declare("single_controller", False)


def checks_collectives() -> bool:
    """Whether the processes compare each collective before it runs."""
    return flags.value_of("collective_check")


def uses_shared_memory() -> bool:
    """Whether processes of one machine use memory and sockets that all of them see."""
    return flags.value_of("collective_shared_memory")


def is_single_controller() -> bool:
    """Whether the number of devices counts as the world size of a program of one process."""
    return flags.value_of("single_controller")
