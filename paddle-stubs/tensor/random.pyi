from paddle_jax.tensor.random import *
