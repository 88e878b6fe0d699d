from paddle_jax.callbacks import *
