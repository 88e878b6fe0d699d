from paddle_jax.reader import *
