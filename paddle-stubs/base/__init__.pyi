from paddle_jax.base import *
