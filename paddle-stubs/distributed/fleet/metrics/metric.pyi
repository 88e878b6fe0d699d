from paddle_jax.distributed.fleet.metrics.metric import *
from paddle_jax.distributed.fleet.metrics.metric import acc as acc
from paddle_jax.distributed.fleet.metrics.metric import auc as auc
from paddle_jax.distributed.fleet.metrics.metric import mae as mae
from paddle_jax.distributed.fleet.metrics.metric import max as max
from paddle_jax.distributed.fleet.metrics.metric import min as min
from paddle_jax.distributed.fleet.metrics.metric import mse as mse
from paddle_jax.distributed.fleet.metrics.metric import rmse as rmse
from paddle_jax.distributed.fleet.metrics.metric import sum as sum
