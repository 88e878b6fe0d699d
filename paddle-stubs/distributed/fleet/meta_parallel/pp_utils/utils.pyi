from paddle_jax.distributed.fleet.meta_parallel.pp_utils.utils import *
