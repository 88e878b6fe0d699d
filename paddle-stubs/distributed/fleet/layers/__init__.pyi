from paddle_jax.distributed.fleet.layers import *
