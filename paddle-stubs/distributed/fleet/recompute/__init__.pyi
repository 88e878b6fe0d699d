from paddle_jax.distributed.fleet.recompute import *
from paddle_jax.distributed.fleet.recompute import recompute as recompute
from paddle_jax.distributed.fleet.recompute import recompute_hybrid as recompute_hybrid
from paddle_jax.distributed.fleet.recompute import recompute_sequential as recompute_sequential
