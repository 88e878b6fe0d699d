"""Sparse Tensors as JAX pytrees: their nodes are the Tensors that they are made of, so compiled functions
take and give them."""

from __future__ import annotations

import functools as ft
from typing import TYPE_CHECKING, Any

import jax

from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.csr import SparseCsrTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax.sparse.base import SparseTensor


def _unflatten(kind: type[SparseTensor], settings: tuple[Any, ...], parts: Sequence[Any]) -> SparseTensor:
    return kind(*parts, *settings)


for _kind in (SparseCooTensor, SparseCsrTensor):
    jax.tree_util.register_pytree_node(_kind, _kind.components, ft.partial(_unflatten, _kind))
