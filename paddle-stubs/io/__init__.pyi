from paddle_jax.io import *
