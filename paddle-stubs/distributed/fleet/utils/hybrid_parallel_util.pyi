from paddle_jax.distributed.fleet.utils.hybrid_parallel_util import *
