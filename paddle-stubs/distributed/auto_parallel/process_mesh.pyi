from paddle_jax.distributed.auto_parallel.process_mesh import *
