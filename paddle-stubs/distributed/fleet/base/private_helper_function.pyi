from paddle_jax.distributed.fleet.base.private_helper_function import *
