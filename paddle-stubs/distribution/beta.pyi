from paddle_jax.distribution.beta import *
