from paddle_jax.distributed.models.moe.utils import *
