from paddle_jax.special import *
