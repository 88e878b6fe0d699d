from paddle_jax.distributed.fsdp import *
