from paddle_jax.incubate.distributed.models.moe.grad_clip import *
