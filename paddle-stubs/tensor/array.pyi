from paddle_jax.tensor.array import *
