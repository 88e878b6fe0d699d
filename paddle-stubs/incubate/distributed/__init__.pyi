from paddle_jax.incubate.distributed import *
