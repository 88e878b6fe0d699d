from paddle_jax.incubate.autograd.functional import *
