from paddle_jax.incubate.asp.utils import *
