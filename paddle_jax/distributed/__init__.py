"""What a program asks about the processes it runs in (`paddle.distributed`). One process drives all devices of JAX."""

from paddle_jax.distributed import fleet
from paddle_jax.distributed.parallel import get_rank, get_world_size, is_initialized

__all__ = ["fleet", "get_rank", "get_world_size", "is_initialized"]
