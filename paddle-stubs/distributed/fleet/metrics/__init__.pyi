from paddle_jax.distributed.fleet.metrics import *
