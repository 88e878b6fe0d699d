from paddle_jax.distributed.fleet.base.util_factory import *
