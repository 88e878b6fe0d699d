from paddle_jax.nn.functional.sdpa import *
