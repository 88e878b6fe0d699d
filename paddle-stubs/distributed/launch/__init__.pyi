from paddle_jax.distributed.launch import *
