from paddle_jax.distribution.kl import *
from paddle_jax.distribution.kl import _dispatch as _dispatch
