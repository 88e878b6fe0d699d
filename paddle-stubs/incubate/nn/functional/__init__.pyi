from paddle_jax.incubate.nn.functional import *
