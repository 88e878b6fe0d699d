from paddle_jax.distribution.binomial import *
