from paddle_jax.distributed.fleet.base import *
