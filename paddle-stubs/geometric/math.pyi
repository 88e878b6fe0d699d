from paddle_jax.geometric.math import *
from paddle_jax.geometric.math import segment_max as segment_max
from paddle_jax.geometric.math import segment_mean as segment_mean
from paddle_jax.geometric.math import segment_min as segment_min
from paddle_jax.geometric.math import segment_sum as segment_sum
