from paddle_jax.nn.functional.norm import *
