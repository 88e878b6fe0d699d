from paddle_jax.func import *
