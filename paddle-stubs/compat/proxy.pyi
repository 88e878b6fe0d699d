from paddle_jax.compat.proxy import *
