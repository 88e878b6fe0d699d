from paddle_jax.distributed.fleet.base.distributed_strategy import *
