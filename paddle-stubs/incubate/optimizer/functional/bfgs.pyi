from paddle_jax.incubate.optimizer.functional.bfgs import *
