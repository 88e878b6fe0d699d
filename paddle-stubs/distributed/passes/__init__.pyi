from paddle_jax.distributed.passes import *
