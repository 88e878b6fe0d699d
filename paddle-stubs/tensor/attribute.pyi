from paddle_jax.tensor.attribute import *
