from paddle_jax.distribution.uniform import *
