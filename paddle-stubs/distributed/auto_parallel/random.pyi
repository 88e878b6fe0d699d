from paddle_jax.distributed.auto_parallel.random import *
