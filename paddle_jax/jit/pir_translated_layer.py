"""The Layer that `paddle.jit.load` returns, under the name it has in Paddle."""

from paddle_jax.jit.translated_layer import PirTranslatedLayer

__all__ = ["PirTranslatedLayer"]
