from paddle_jax.distributed.fleet.meta_optimizers import *
from paddle_jax.distributed.fleet.meta_optimizers import dygraph_optimizer as dygraph_optimizer
