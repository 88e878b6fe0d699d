from paddle_jax.distributed.parallel_with_gloo import *
