"""Newer interfaces (`paddle.incubate`)."""

from paddle_jax.incubate import asp, autograd, autotune, jit, nn, optimizer
from paddle_jax.incubate.jit import inference
from paddle_jax.incubate.nn.loss import identity_loss
from paddle_jax.incubate.operators import (
    graph_khop_sampler,
    graph_reindex,
    graph_sample_neighbors,
    graph_send_recv,
    softmax_mask_fuse,
    softmax_mask_fuse_upper_triangle,
)
from paddle_jax.incubate.optimizer import LookAhead, ModelAverage
from paddle_jax.incubate.tensor import segment_max, segment_mean, segment_min, segment_sum

__all__ = [
    "LookAhead",
    "ModelAverage",
    "asp",
    "autograd",
    "autotune",
    "inference",
    "jit",
    "nn",
    "optimizer",
    "softmax_mask_fuse_upper_triangle",
    "softmax_mask_fuse",
    "graph_send_recv",
    "graph_khop_sampler",
    "graph_sample_neighbors",
    "graph_reindex",
    "segment_sum",
    "segment_mean",
    "segment_max",
    "segment_min",
    "identity_loss",
]
