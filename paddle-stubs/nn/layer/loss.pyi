from paddle_jax.nn.layer.loss import *
