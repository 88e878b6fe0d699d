from paddle_jax.distribution.multinomial import *
