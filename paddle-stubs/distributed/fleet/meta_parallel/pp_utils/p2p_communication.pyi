from paddle_jax.distributed.fleet.meta_parallel.pp_utils.p2p_communication import *
