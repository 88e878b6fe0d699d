from paddle_jax.compat.nn.functional.sdpa import *
