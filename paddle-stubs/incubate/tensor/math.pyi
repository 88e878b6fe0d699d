from paddle_jax.incubate.tensor.math import *
