from paddle_jax.optimizer.lr import *
