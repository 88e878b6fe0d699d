from paddle_jax.incubate.asp import *
