from paddle_jax.incubate.asp.asp import *
