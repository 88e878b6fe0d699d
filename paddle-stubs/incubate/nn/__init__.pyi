from paddle_jax.incubate.nn import *
from paddle_jax.incubate.nn import functional as functional
