from paddle_jax.distributed.fleet.recompute.recompute_hybrid import *
