"""Newer interfaces (`paddle.incubate`)."""

from paddle_jax.incubate import autograd

__all__ = ["autograd"]
