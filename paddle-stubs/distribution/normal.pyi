from paddle_jax.distribution.normal import *
