from paddle_jax.nn.attention import *
