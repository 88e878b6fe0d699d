from paddle_jax.distribution.transformed_distribution import *
