from paddle_jax.tensor.logic import *
