from paddle_jax.distributed.auto_parallel import *
from paddle_jax.distributed.auto_parallel import high_level_api as high_level_api
