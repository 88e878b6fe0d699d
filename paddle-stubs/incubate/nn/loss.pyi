from paddle_jax.incubate.nn.loss import *
