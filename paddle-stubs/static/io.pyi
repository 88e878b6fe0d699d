from paddle_jax.static.io import *
