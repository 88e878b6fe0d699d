from paddle_jax.distributed.fleet import *
from paddle_jax.distributed.fleet import base as base
from paddle_jax.distributed.fleet import data_generator as data_generator
from paddle_jax.distributed.fleet import dataset as dataset
from paddle_jax.distributed.fleet import fleet as fleet
from paddle_jax.distributed.fleet import layers as layers
from paddle_jax.distributed.fleet import meta_optimizers as meta_optimizers
from paddle_jax.distributed.fleet import meta_parallel as meta_parallel
from paddle_jax.distributed.fleet import metrics as metrics
from paddle_jax.distributed.fleet import recompute as recompute
