from paddle_jax.tensor.math import *
