from paddle_jax.distributed.fleet.base.topology import *
