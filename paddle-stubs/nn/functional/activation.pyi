from paddle_jax.nn.functional.activation import *
