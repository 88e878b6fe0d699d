"""The part of `paddle.distributed.fleet` that means something in one process."""

from paddle_jax.distributed.fleet import utils

__all__ = ["utils"]
