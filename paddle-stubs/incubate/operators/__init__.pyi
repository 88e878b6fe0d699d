from paddle_jax.incubate.operators import *
