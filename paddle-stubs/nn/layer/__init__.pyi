from paddle_jax.nn.layer import *
