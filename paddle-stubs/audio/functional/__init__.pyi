from paddle_jax.audio.functional import *
