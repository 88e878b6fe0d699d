"""Graphs: messages along edges, sums by segments, neighbours, new numbers for nodes (`paddle.geometric`)."""

from paddle_jax.geometric.math import segment_max, segment_mean, segment_min, segment_sum
from paddle_jax.geometric.message_passing.send_recv import send_u_recv, send_ue_recv, send_uv
from paddle_jax.geometric.reindex import reindex_graph, reindex_heter_graph
from paddle_jax.geometric.sampling.neighbors import sample_neighbors, weighted_sample_neighbors

__all__ = [
    "send_u_recv",
    "send_ue_recv",
    "send_uv",
    "segment_sum",
    "segment_mean",
    "segment_min",
    "segment_max",
    "reindex_graph",
    "reindex_heter_graph",
    "sample_neighbors",
    "weighted_sample_neighbors",
]
