"""Sparse matrices by coordinates (`paddle.sparse`): making them, joining equal coordinates, products with dense ones."""

from paddle_jax.sparse.coo import SparseCooTensor, coalesce, matmul, sparse_coo_tensor, transpose

__all__ = ["SparseCooTensor", "coalesce", "matmul", "sparse_coo_tensor", "transpose"]
