from paddle_jax.distribution.dirichlet import *
