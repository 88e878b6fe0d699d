from paddle_jax.distributed.fleet.meta_parallel.dualpipev import *
from paddle_jax.distributed.fleet.meta_parallel.dualpipev import DualPipeVParallel as DualPipeVParallel
