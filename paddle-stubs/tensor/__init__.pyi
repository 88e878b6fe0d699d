from paddle_jax.tensor import *
