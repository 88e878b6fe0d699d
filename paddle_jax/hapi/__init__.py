"""The high-level API: `paddle.Model`, `paddle.callbacks`, `paddle.summary`, `paddle.flops`, `paddle.hub`."""

from paddle_jax.hapi import callbacks, hub
from paddle_jax.hapi.model import Model
from paddle_jax.hapi.model_summary import summary

__all__ = []
