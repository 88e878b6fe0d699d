from paddle_jax.distribution.poisson import *
