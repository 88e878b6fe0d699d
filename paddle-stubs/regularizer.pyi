from paddle_jax.regularizer import *
