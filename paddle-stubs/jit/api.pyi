from paddle_jax.jit.api import *
