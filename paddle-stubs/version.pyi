from paddle_jax.version import *
