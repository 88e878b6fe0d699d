from paddle_jax.distributed.rpc.rpc import *
