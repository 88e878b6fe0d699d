from paddle_jax.base.dygraph import *
