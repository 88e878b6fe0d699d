from paddle_jax.optimizer.adamax import *
