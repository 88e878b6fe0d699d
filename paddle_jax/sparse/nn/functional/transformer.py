"""Attention to chosen places."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from paddle_jax.sparse.binary import matmul
from paddle_jax.sparse.coordinates import coordinates
from paddle_jax.sparse.csr import SparseCsrTensor, by_rows
from paddle_jax.sparse.nn.functional.activation import softmax
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.gathering import gather_nd

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor

__all__ = []


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sparse_mask: SparseCsrTensor,
    key_padding_mask: Tensor | None = None,
    attn_mask: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """softmax(query @ key^T / sqrt(head_dim)) @ value, where each query looks only at the places that a
    sparse mask keeps.

    Args:
        query, key, value: Tensors [batch, heads, length, head_dim].
        sparse_mask: SparseCsrTensor [batch * heads, length, length]; its values do not matter.
        key_padding_mask: Tensor [batch, length]; keys with 0 are not looked at.
        attn_mask: Tensor [length, length]; pairs of query and key with 0 are left out.
    Returns:
        Tensor [batch, heads, length, head_dim]; 0 for queries that look at nothing.
    Raises:
        NotImplementedError: sparse_mask is not a SparseCsrTensor.
        ValueError: a shape does not fit.
    Differs from Paddle: it works on the CPU, too, and in memory that grows with the elements that are kept.
    Example:
        >>> x, mask = (paddle.ones([1, 1, 2, 4]),
        ...            paddle.sparse.sparse_csr_tensor([0, 1, 3], [0, 0, 1], [1.0, 1.0, 1.0], [1, 2, 2]))
        >>> paddle.sparse.nn.functional.attention(x, x, x, mask).tolist()
        [[[[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]]]
    """
    places = _places(query, key, value, sparse_mask, key_padding_mask, attn_mask)
    stacks = query.shape[0] * query.shape[1]
    length = query.shape[2]
    width = query.shape[3]
    q, k, v = (t.reshape([stacks, length, width]) for t in (query, key, value))
    rows, columns = (to_tensor(np.ascontiguousarray(places[axes].T)) for axes in ([0, 1], [0, 2]))
    scores = (gather_nd(q, rows) * gather_nd(k, columns)).sum(-1) * (1 / math.sqrt(width))
    weights = softmax(by_rows(places, scores, [stacks, length, length]))
    return matmul(weights, v).reshape([*query.shape])


def _places(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sparse_mask: SparseCsrTensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
) -> np.ndarray:
    """The coordinates [3, n] of the pairs that are looked at."""
    if not isinstance(sparse_mask, SparseCsrTensor):
        raise NotImplementedError(
            f"attention: sparse_mask: got {type(sparse_mask).__name__}; give a SparseCsrTensor"
        )
    if query.ndim != 4 or list(key.shape) != list(query.shape) or list(value.shape) != list(query.shape):
        shapes = ", ".join(str(list(t.shape)) for t in (query, key, value))
        raise ValueError(
            f"attention: query, key, value: got shapes {shapes}; all must be one [batch, heads, "
            "length, head_dim]"
        )
    batch, heads, length, _ = query.shape
    wanted = (
        ("sparse_mask", sparse_mask, [batch * heads, length, length]),
        ("key_padding_mask", key_padding_mask, [batch, length]),
        ("attn_mask", attn_mask, [length, length]),
    )
    for name, mask, shape in wanted:
        if mask is not None and list(mask.shape) != shape:
            raise ValueError(f"attention: {name}: got shape {list(mask.shape)}; it must have {shape}")
    places = coordinates(sparse_mask)
    stack, row, column = places
    kept = np.ones(places.shape[1], bool)
    if key_padding_mask is not None:
        # Heads of a sequence come one after the other.
        kept &= key_padding_mask.numpy()[stack // heads, column] != 0
    if attn_mask is not None:
        kept &= attn_mask.numpy()[row, column] != 0
    return places[:, kept]
