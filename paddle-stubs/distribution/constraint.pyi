from paddle_jax.distribution.constraint import *
