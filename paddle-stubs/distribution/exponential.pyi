from paddle_jax.distribution.exponential import *
