from paddle_jax.optimizer.momentum import *
