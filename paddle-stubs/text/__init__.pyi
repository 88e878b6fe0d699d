from paddle_jax.text import *
