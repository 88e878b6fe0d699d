from paddle_jax.distributed.parallel import *
from paddle_jax.distributed.parallel import sync_params_buffers as sync_params_buffers
