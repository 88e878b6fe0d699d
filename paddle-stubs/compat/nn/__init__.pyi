from paddle_jax.compat.nn import *
from paddle_jax.compat.nn import functional as functional
