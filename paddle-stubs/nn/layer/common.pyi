from paddle_jax.nn.layer.common import *
