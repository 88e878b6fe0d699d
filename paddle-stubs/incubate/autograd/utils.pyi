from paddle_jax.incubate.autograd.utils import *
