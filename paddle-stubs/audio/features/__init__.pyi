from paddle_jax.audio.features import *
