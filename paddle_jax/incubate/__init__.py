"""Newer interfaces (`paddle.incubate`)."""

from paddle_jax.incubate import autograd, optimizer
from paddle_jax.incubate.operators import graph_khop_sampler, graph_reindex, graph_sample_neighbors, graph_send_recv
from paddle_jax.incubate.tensor import segment_max, segment_mean, segment_min, segment_sum

__all__ = [
    "autograd", "optimizer", "graph_send_recv", "graph_khop_sampler", "graph_sample_neighbors", "graph_reindex", "segment_sum", "segment_mean",
    "segment_max", "segment_min",
]
