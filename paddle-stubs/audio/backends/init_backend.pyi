from paddle_jax.audio.backends.init_backend import *
