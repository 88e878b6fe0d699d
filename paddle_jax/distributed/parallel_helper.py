"""Whether the processes of this program work together: what programs ask before they call
init_parallel_env."""

from paddle_jax.distributed.communication.group import is_initialized

__all__ = []


def _is_parallel_ctx_initialized() -> bool:
    """Whether init_parallel_env has connected several processes.

    Example:
        >>> from paddle_jax.distributed import parallel
        >>> parallel.parallel_helper._is_parallel_ctx_initialized()
        False
    """
    return is_initialized()


def _is_data_parallel_mode() -> bool:
    """The same: each process computes with its part of a batch."""
    return is_initialized()
