from paddle_jax.optimizer.rmsprop import *
