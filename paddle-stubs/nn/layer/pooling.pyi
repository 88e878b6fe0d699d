from paddle_jax.nn.layer.pooling import *
