from paddle_jax.optimizer.adam import *
