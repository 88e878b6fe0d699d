"""Layers of which each process holds a part."""

from paddle_jax.distributed.fleet.layers import mpu

__all__ = ["mpu"]
