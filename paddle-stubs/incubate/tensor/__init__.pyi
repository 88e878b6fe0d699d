from paddle_jax.incubate.tensor import *
from paddle_jax.incubate.tensor import segment_max as segment_max
from paddle_jax.incubate.tensor import segment_mean as segment_mean
from paddle_jax.incubate.tensor import segment_min as segment_min
from paddle_jax.incubate.tensor import segment_sum as segment_sum
