"""Newer interfaces (`paddle.incubate`)."""

from paddle_jax.incubate import autograd, optimizer

__all__ = ["autograd", "optimizer"]
