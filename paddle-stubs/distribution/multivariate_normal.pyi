from paddle_jax.distribution.multivariate_normal import *
