"""Functions on graphs under their older names."""

from paddle_jax.incubate.operators.graph_khop_sampler import graph_khop_sampler as graph_khop_sampler
from paddle_jax.incubate.operators.graph_reindex import graph_reindex as graph_reindex
from paddle_jax.incubate.operators.graph_sample_neighbors import (
    graph_sample_neighbors as graph_sample_neighbors,
)
from paddle_jax.incubate.operators.graph_send_recv import graph_send_recv as graph_send_recv
from paddle_jax.incubate.operators.softmax_mask_fuse import softmax_mask_fuse as softmax_mask_fuse
from paddle_jax.incubate.operators.softmax_mask_fuse_upper_triangle import (
    softmax_mask_fuse_upper_triangle as softmax_mask_fuse_upper_triangle,
)
