from paddle_jax.distribution.independent import *
