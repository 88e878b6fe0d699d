from paddle_jax.distribution.variable import *
