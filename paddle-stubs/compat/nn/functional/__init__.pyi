from paddle_jax.compat.nn.functional import *
