from paddle_jax.incubate.jit import *
