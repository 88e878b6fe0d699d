from paddle_jax.distributed.fleet.scaler import *
from paddle_jax.distributed.fleet.scaler import distributed_scaler as distributed_scaler
