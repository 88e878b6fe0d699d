from paddle_jax.distribution.distribution import *
