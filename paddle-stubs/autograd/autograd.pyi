from paddle_jax.autograd.autograd import *
