from paddle_jax.distributed.flex_checkpoint.dcp import *
