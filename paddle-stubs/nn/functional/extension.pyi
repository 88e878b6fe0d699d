from paddle_jax.nn.functional.extension import *
