from paddle_jax.distributed.auto_parallel.ring_attention import *
