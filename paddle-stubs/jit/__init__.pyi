from paddle_jax.jit import *
