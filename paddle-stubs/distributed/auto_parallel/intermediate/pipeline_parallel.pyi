from paddle_jax.distributed.auto_parallel.intermediate.pipeline_parallel import *
