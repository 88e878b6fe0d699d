from paddle_jax.distributed.sharding import *
