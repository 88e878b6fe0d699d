from paddle_jax.hub import *
