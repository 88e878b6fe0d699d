from paddle_jax.base.core import *
