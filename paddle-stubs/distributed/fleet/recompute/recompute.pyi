from paddle_jax.distributed.fleet.recompute.recompute import *
