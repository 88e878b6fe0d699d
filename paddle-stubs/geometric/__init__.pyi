from paddle_jax.geometric import *
