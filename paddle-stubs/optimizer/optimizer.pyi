from paddle_jax.optimizer.optimizer import *
