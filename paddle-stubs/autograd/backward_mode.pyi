from paddle_jax.autograd.backward_mode import *
