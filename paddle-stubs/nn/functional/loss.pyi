from paddle_jax.nn.functional.loss import *
