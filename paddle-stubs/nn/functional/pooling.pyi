from paddle_jax.nn.functional.pooling import *
