from paddle_jax.distributed.auto_parallel.api import *
