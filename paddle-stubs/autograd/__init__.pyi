from paddle_jax.autograd import *
