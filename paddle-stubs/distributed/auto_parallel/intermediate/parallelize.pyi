from paddle_jax.distributed.auto_parallel.intermediate.parallelize import *
