"""Sound: features as Layers, the functions behind them, files and data sets (`paddle.audio`)."""

import sys

from paddle_jax.audio import backends, datasets, features, functional
from paddle_jax.audio.backends.wave_backend import info, load, save

backends.init_backend._FRONTS.append(sys.modules[__name__])

__all__ = ["functional", "features", "datasets", "backends", "load", "info", "save"]
