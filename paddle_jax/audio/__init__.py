"""Sound: features as Layers, the functions behind them, files and data sets (`paddle.audio`)."""

from paddle_jax.audio import backends, datasets, features, functional
from paddle_jax.audio.backends.wave_backend import info, load, save

__all__ = ["functional", "features", "datasets", "backends", "load", "info", "save"]
