"""Layers and control flow as functions, for static programs."""

from paddle_jax.static.nn.common import (
    batch_norm,
    bilinear_tensor_product,
    embedding,
    fc,
    group_norm,
    instance_norm,
    layer_norm,
    prelu,
    row_conv,
    sparse_embedding,
    spectral_norm,
)
from paddle_jax.static.nn.control_flow import case, cond, switch_case, while_loop
from paddle_jax.static.nn.conv import conv2d, conv2d_transpose, conv3d, conv3d_transpose
from paddle_jax.static.nn.python import py_func, static_pylayer

__all__ = [
    "batch_norm",
    "bilinear_tensor_product",
    "case",
    "cond",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "embedding",
    "fc",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "prelu",
    "py_func",
    "row_conv",
    "sparse_embedding",
    "spectral_norm",
    "static_pylayer",
    "switch_case",
    "while_loop",
]
