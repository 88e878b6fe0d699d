"""Data sets of sound, from a folder of the user's or from the network (`paddle.audio.datasets`)."""

from paddle_jax.audio.datasets.esc50 import ESC50
from paddle_jax.audio.datasets.tess import TESS

__all__ = ["ESC50", "TESS"]
