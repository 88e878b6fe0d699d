from paddle_jax.tensor.einsum import *
