from paddle_jax.incubate.optimizer.lars_momentum import *
