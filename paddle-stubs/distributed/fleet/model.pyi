from paddle_jax.distributed.fleet.model import *
from paddle_jax.distributed.fleet.model import distributed_model as distributed_model
