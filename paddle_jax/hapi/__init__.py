"""The high-level API: `paddle.Model`, `paddle.callbacks`, `paddle.summary`, `paddle.flops`, `paddle.hub`."""

from paddle_jax.hapi import callbacks as callbacks, hub as hub
from paddle_jax.hapi.model import Model as Model
from paddle_jax.hapi.model_summary import summary as summary

__all__ = []
