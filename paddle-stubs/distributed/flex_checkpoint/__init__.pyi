from paddle_jax.distributed.flex_checkpoint import *
