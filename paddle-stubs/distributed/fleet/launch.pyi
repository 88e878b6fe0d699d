from paddle_jax.distributed.fleet.launch import *
