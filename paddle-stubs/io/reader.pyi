from paddle_jax.io.reader import *
