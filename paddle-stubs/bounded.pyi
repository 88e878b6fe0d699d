from paddle_jax.bounded import *
