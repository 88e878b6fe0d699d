from paddle_jax.distributed.communication import *
