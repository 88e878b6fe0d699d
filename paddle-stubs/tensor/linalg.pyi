from paddle_jax.tensor.linalg import *
