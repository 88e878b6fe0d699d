from paddle_jax.nn.initializer import *
from paddle_jax.nn.initializer import lazy_init as lazy_init
