from paddle_jax.metrics import *
