"""Functions on graphs under their older names."""

from paddle_jax.incubate.operators.graph_khop_sampler import graph_khop_sampler
from paddle_jax.incubate.operators.graph_reindex import graph_reindex
from paddle_jax.incubate.operators.graph_sample_neighbors import graph_sample_neighbors
from paddle_jax.incubate.operators.graph_send_recv import graph_send_recv
