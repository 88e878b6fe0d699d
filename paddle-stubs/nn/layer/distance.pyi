from paddle_jax.nn.layer.distance import *
