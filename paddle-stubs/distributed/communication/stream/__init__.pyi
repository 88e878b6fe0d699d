from paddle_jax.distributed.communication.stream import *
