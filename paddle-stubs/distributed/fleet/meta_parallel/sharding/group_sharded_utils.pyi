from paddle_jax.distributed.fleet.meta_parallel.sharding.group_sharded_utils import *
