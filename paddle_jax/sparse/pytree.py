"""Sparse Tensors as JAX pytrees: their nodes are the Tensors that they are made of, so compiled functions
take and give them."""

import functools as ft

import jax

from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.csr import SparseCsrTensor


def _unflatten(kind, settings, parts):
    return kind(*parts, *settings)


for _kind in (SparseCooTensor, SparseCsrTensor):
    jax.tree_util.register_pytree_node(_kind, _kind.components, ft.partial(_unflatten, _kind))
