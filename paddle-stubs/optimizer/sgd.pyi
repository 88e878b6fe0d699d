from paddle_jax.optimizer.sgd import *
