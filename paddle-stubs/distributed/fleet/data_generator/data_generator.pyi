from paddle_jax.distributed.fleet.data_generator.data_generator import *
