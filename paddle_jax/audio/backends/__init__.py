"""What reads and writes files of sound: Python's own module for WAV files, or the package soundfile
for many formats."""

from paddle_jax.audio.backends import (
    backend as backend,
    soundfile_backend as soundfile_backend,
    wave_backend as wave_backend,
)
from paddle_jax.audio.backends.init_backend import get_current_backend, list_available_backends, set_backend

__all__ = ["get_current_backend", "list_available_backends", "set_backend"]
