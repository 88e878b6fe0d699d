from paddle_jax.static.nn.common import *
from paddle_jax.static.nn.common import sparse_embedding as sparse_embedding
