from paddle_jax.incubate.distributed.fleet import *
