from paddle_jax.audio.backends.backend import *
