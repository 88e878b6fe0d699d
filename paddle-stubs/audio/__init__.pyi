from paddle_jax.audio import *
