from paddle_jax.tensor.ops import *
