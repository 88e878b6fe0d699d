from paddle_jax.incubate.nn.layer import *
