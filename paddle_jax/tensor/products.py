"""The matrix product, and picking along an axis, as one operation of JAX each: what `jax.numpy` has for them
takes several times as long to trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax import lax

if TYPE_CHECKING:
    import jax


def product(x: jax.Array, y: jax.Array, turned_x: bool = False, turned_y: bool = False) -> jax.Array:
    """x @ y over the last two axes, which may be exchanged first; leading axes broadcast, vectors count as
    one row (x) or one column (y)."""
    n = x.ndim
    at_x = n - 2 if turned_x else n - 1
    at_y = y.ndim - 1 if turned_y else y.ndim - 2
    # What one `dot_general` can do; the rest goes through `jnp.matmul`.
    plain = (
        x.dtype == y.dtype
        and jnp.issubdtype(x.dtype, jnp.inexact)
        and min(n, y.ndim) > 1
        and (y.ndim == 2 or x.shape[:-2] == y.shape[:-2])
    )
    if not plain or x.shape[at_x] != y.shape[at_y]:
        return jnp.matmul(_turned(x, turned_x), _turned(y, turned_y))
    if turned_x and y.ndim == 2 < n:  # the axes that are kept would come out in another order
        x = _turned(x, True)
        at_x = n - 1
    batch = range(y.ndim - 2)
    return lax.dot_general(x, y, (([at_x], [at_y]), (batch, batch)))


def _turned(a: jax.Array, wanted: bool) -> jax.Array:
    if wanted and a.ndim > 1:
        return jnp.swapaxes(a, -1, -2)
    return a


def along_axis(x: jax.Array, index: jax.Array, axis: Any) -> jax.Array:
    """x at an index along an axis; the other axes are equally long. An index that does not exist gives NaN
    (in integers the least number)."""
    axis %= x.ndim
    others = tuple([i for i in range(x.ndim) if i != axis])
    places = lax.GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
    )
    return lax.gather(x, lax.expand_dims(index, (index.ndim,)), places, (1,) * x.ndim, mode="fill")
