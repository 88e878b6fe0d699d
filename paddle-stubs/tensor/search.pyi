from paddle_jax.tensor.search import *
