from paddle_jax.nn.layer.container import *
