from paddle_jax.distributed.fleet.meta_parallel.parallel_layers import *
