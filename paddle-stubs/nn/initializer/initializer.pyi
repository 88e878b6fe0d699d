from paddle_jax.nn.initializer.initializer import *
