"""What a program asks about the processes it runs in. One process drives all devices of JAX."""

import os

__all__ = ["get_rank", "get_world_size", "is_initialized"]


def get_rank(group=None) -> int:
    """The number of this process, from 0: what the launcher put into PADDLE_TRAINER_ID, or 0.

    Example:
        >>> paddle.distributed.get_rank()
        0
    """
    return int(os.environ.get("PADDLE_TRAINER_ID", "0"))


def get_world_size(group=None) -> int:
    """The number of processes: what the launcher put into PADDLE_TRAINERS_NUM, or 1.

    Example:
        >>> paddle.distributed.get_world_size()
        1
    """
    return int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))


def is_initialized() -> bool:
    """False: no group of processes has been formed."""
    return False
