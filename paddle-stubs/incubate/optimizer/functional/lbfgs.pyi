from paddle_jax.incubate.optimizer.functional.lbfgs import *
