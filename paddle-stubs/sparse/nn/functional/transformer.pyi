from paddle_jax.sparse.nn.functional.transformer import *
from paddle_jax.sparse.nn.functional.transformer import attention as attention
