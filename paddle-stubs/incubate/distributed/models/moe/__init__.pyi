from paddle_jax.incubate.distributed.models.moe import *
