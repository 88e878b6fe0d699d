from paddle_jax.audio.backends.wave_backend import *
