from paddle_jax.optimizer.asgd import *
