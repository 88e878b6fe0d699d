from paddle_jax.distributed.fleet.meta_parallel import *
from paddle_jax.distributed.fleet.meta_parallel import sharding as sharding
