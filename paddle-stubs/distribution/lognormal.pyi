from paddle_jax.distribution.lognormal import *
