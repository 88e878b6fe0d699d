from paddle_jax.distribution.laplace import *
