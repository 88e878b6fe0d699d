from paddle_jax.distribution.transform import *
