from paddle_jax.distribution.cauchy import *
