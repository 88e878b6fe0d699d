"""Sparse Tensors by coordinates and by rows (`paddle.sparse`): making them, functions that keep 0 at 0, sums,
products, activations."""

from paddle_jax.sparse import creation, nn, pytree
from paddle_jax.sparse.binary import (add, divide, is_same_shape, mask_as, masked_matmul, matmul, multiply,
                                      mv, subtract)
from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.creation import sparse_coo_tensor, sparse_csr_tensor
from paddle_jax.sparse.csr import SparseCsrTensor
from paddle_jax.sparse.lowrank import pca_lowrank
from paddle_jax.sparse.multiary import addmm
from paddle_jax.sparse.unary import (
    abs, asin, asinh, atan, atanh, cast, coalesce, deg2rad, expm1, isnan, log1p, neg, pow, rad2deg, reshape,
    sin, sinh, slice, sqrt, square, sum, tan, tanh, transpose,
)

__all__ = [
    "sparse_coo_tensor", "sparse_csr_tensor", "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh",
    "sqrt", "square", "log1p", "abs", "pow", "cast", "neg", "deg2rad", "rad2deg", "expm1", "mv", "matmul",
    "mask_as", "masked_matmul", "addmm", "add", "subtract", "transpose", "sum", "multiply", "divide",
    "coalesce", "is_same_shape", "reshape", "isnan", "slice", "pca_lowrank",
]
