from paddle_jax.sparse.multiary import *
from paddle_jax.sparse.multiary import addmm as addmm
