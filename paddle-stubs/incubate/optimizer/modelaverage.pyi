from paddle_jax.incubate.optimizer.modelaverage import *
