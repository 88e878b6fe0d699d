from paddle_jax.incubate.nn.functional.fast_ln import *
