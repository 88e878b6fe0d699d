from paddle_jax.distribution.gamma import *
