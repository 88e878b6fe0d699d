from paddle_jax.incubate.distributed.models.moe.moe_layer import *
