from paddle_jax.distributed.auto_parallel.strategy import *
