from paddle_jax.incubate.distributed.models.moe.utils import *
