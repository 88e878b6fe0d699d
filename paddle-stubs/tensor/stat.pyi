from paddle_jax.tensor.stat import *
