from paddle_jax.distributed.sharding.group_sharded import *
