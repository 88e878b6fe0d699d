from paddle_jax.jit.marker import *
