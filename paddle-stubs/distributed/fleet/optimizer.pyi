from paddle_jax.distributed.fleet.optimizer import *
from paddle_jax.distributed.fleet.optimizer import distributed_optimizer as distributed_optimizer
