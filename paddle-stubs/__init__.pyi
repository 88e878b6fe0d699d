from paddle_jax import *
from paddle_jax import __version__ as __version__
from paddle_jax import dtype as dtype
