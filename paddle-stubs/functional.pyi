from paddle_jax.functional import *
