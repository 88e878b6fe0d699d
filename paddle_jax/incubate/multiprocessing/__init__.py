"""Python's `multiprocessing` under Paddle's path: Tensors go through its queues and pipes, by value."""

from multiprocessing import *  # noqa: F403

__all__ = []
