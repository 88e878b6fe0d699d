from paddle_jax.optimizer.adamw import *
