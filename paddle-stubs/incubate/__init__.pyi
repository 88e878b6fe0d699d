from paddle_jax.incubate import *
