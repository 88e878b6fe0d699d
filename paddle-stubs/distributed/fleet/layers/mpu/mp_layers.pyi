from paddle_jax.distributed.fleet.layers.mpu.mp_layers import *
from paddle_jax.distributed.fleet.layers.mpu.mp_layers import ColumnParallelLinear as ColumnParallelLinear
from paddle_jax.distributed.fleet.layers.mpu.mp_layers import ParallelCrossEntropy as ParallelCrossEntropy
from paddle_jax.distributed.fleet.layers.mpu.mp_layers import RowParallelLinear as RowParallelLinear
from paddle_jax.distributed.fleet.layers.mpu.mp_layers import VocabParallelEmbedding as VocabParallelEmbedding
from paddle_jax.distributed.fleet.layers.mpu.mp_layers import is_fused_matmul_bias_supported as is_fused_matmul_bias_supported
