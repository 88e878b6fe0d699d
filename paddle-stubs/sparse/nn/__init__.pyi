from paddle_jax.sparse.nn import *
from paddle_jax.sparse.nn import functional as functional
