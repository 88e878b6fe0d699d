from paddle_jax.distributed.ps import *
