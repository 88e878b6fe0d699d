from paddle_jax.nn.clip import *
from paddle_jax.nn.clip import _squared_l2_norm as _squared_l2_norm
