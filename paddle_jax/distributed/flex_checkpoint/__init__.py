"""Checkpoints under the path that Paddle gives them; see `paddle_jax.distributed.checkpoint`."""

__all__ = []
