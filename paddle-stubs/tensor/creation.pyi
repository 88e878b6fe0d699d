from paddle_jax.tensor.creation import *
