from paddle_jax.distribution.categorical import *
