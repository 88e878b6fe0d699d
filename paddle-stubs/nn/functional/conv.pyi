from paddle_jax.nn.functional.conv import *
