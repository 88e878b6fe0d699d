from paddle_jax.distributed.fleet.fleet import *
