from paddle_jax.distributed.launch.main import *
