from paddle_jax.distributed.auto_parallel.placement_type import *
