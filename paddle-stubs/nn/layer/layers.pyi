from paddle_jax.nn.layer.layers import *
