"""Sound: features as Layers, the functions behind them, and files (`paddle.audio`)."""

from paddle_jax.audio import backends, features, functional
from paddle_jax.audio.backends.wave_backend import info, load, save

__all__ = ["functional", "features", "backends", "load", "info", "save"]
