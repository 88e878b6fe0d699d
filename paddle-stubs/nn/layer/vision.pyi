from paddle_jax.nn.layer.vision import *
