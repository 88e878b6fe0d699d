from paddle_jax.sparse.nn.functional.pooling import *
from paddle_jax.sparse.nn.functional.pooling import max_pool3d as max_pool3d
