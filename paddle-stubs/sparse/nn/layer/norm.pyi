from paddle_jax.sparse.nn.layer.norm import *
from paddle_jax.sparse.nn.layer.norm import BatchNorm as BatchNorm
from paddle_jax.sparse.nn.layer.norm import SyncBatchNorm as SyncBatchNorm
