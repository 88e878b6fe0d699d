from paddle_jax.distribution.geometric import *
