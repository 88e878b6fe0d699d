from paddle_jax.distributed.auto_parallel.high_level_api import *
