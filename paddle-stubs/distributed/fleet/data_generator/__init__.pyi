from paddle_jax.distributed.fleet.data_generator import *
