from paddle_jax.distributed.checkpoint import *
