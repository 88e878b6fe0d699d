from paddle_jax.distributed.spawn import *
