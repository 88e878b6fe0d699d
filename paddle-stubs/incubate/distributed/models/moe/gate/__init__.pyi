from paddle_jax.incubate.distributed.models.moe.gate import *
