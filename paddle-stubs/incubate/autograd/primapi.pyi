from paddle_jax.incubate.autograd.primapi import *
