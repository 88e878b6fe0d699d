from paddle_jax.nn.functional import *
