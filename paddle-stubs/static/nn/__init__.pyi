from paddle_jax.static.nn import *
