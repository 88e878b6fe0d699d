from paddle_jax.distributed.flex_checkpoint.dcp.sharded_weight import *
