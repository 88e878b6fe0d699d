from paddle_jax.autograd.saved_tensors_hooks import *
