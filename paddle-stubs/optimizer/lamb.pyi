from paddle_jax.optimizer.lamb import *
