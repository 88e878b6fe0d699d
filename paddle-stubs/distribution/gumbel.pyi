from paddle_jax.distribution.gumbel import *
