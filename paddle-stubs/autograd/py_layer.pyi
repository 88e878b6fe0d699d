from paddle_jax.autograd.py_layer import *
