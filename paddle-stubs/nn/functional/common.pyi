from paddle_jax.nn.functional.common import *
