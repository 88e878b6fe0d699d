from paddle_jax.optimizer.lbfgs import *
