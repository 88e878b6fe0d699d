from paddle_jax.distributed.fleet.meta_parallel.sharding.group_sharded_stage3 import *
