from paddle_jax.incubate.optimizer.functional import *
