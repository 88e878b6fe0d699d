from paddle_jax.distributed.models.moe import *
