from paddle_jax.distribution.exponential_family import *
