from paddle_jax.distributed.rpc import *
