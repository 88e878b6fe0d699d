from paddle_jax.nn.utils import *
