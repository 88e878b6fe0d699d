from paddle_jax.distributed.auto_parallel.local_map import *
