from paddle_jax.audio.backends import *
from paddle_jax.audio.backends import backend as backend
from paddle_jax.audio.backends import soundfile_backend as soundfile_backend
from paddle_jax.audio.backends import wave_backend as wave_backend
