from paddle_jax.distributed.fleet.layers.mpu.mp_ops import *
from paddle_jax.distributed.fleet.layers.mpu.mp_ops import _c_concat as _c_concat
from paddle_jax.distributed.fleet.layers.mpu.mp_ops import _c_identity as _c_identity
from paddle_jax.distributed.fleet.layers.mpu.mp_ops import _c_lookup_table as _c_lookup_table
from paddle_jax.distributed.fleet.layers.mpu.mp_ops import _c_softmax_with_cross_entropy as _c_softmax_with_cross_entropy
from paddle_jax.distributed.fleet.layers.mpu.mp_ops import _c_split as _c_split
from paddle_jax.distributed.fleet.layers.mpu.mp_ops import _mp_allreduce as _mp_allreduce
