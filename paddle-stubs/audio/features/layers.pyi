from paddle_jax.audio.features.layers import *
