from paddle_jax.nn.parameter import *
