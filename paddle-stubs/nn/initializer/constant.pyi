from paddle_jax.nn.initializer.constant import *
