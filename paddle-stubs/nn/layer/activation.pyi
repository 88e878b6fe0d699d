from paddle_jax.nn.layer.activation import *
