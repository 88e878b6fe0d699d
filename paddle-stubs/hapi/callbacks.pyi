from paddle_jax.hapi.callbacks import *
