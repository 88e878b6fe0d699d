from paddle_jax.distributed.utils import *
