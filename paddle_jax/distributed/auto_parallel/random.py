"""Random numbers of programs over a mesh."""

from __future__ import annotations

from paddle_jax._core.tensors.random import seed as seed_all


def parallel_manual_seed(seed: int, name: str = "") -> None:
    """Seeds the random numbers of a program over a mesh: what is drawn does not depend on how it
    lies on the devices.

    Args:
        seed: int in 0..2**64 - 1, the same on all processes.
        name: str, accepted; there is one generator for values of every layout. Default "".
    Raises:
        ValueError: seed is not such an integer.
    Differs from Paddle: it is the seed of `paddle.seed`, which Paddle keeps beside it.
    Example:
        >>> paddle.distributed.auto_parallel.parallel_manual_seed(7)
        >>> paddle.rand([2]).shape
        paddle.Size([2])
    """
    seed_all(seed)
