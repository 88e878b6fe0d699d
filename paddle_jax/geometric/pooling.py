"""Rows added up, averaged or compared by the number of the row of the result that each belongs to."""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.ops.op import op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.lowering import narrowed


@op("x index", register=False, method=False)
def pooled(x: jax.Array, index: jax.Array, count: Any, how: str) -> jax.Array:
    """`count` rows: row i is the sum, mean, max or min of the rows of x where index is i; 0
    where there are none.

    As in Paddle the gradient of a largest value goes in full to every row that has it.
    """
    index = narrowed(index)
    if how == "sum":
        return _added_up(x, index, count)
    if how == "mean":
        sizes = _added_up(lax.full(index.shape, 1, np.int32), index, count)
        total = _added_up(x, index, count)
        # Rows that nothing belongs to are 0 and stay so.
        sizes = lax.max(sizes, lax.full_like(sizes, 1)).astype(x.dtype)
        sizes = lax.broadcast_in_dim(sizes, total.shape, (0,))
        if jnp.issubdtype(x.dtype, jnp.integer):
            return total // sizes
        return lax.div(total, sizes)
    return _extremes(x, index, count, how)


def _added_up(x: jax.Array, index: jax.Array, count: Any) -> jax.Array:
    """`count` rows: row i is the sum of the rows of x where index is i."""
    places = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(range(1, x.ndim)),
        inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,),
    )
    zeros = lax.full((count, *x.shape[1:]), 0, x.dtype)
    return lax.scatter_add(zeros, lax.expand_dims(index, (1,)), x, places, mode="drop")


@ft.partial(jax.custom_jvp, nondiff_argnums=(2, 3))
def _extremes(x: jax.Array, index: jax.Array, count: int, how: str) -> jax.Array:
    found = (jax.ops.segment_max if how == "max" else jax.ops.segment_min)(x, index, count)
    # Rows that nothing belongs to would be infinite.
    filled = jnp.zeros(count, bool).at[index].set(True)
    return jnp.where(filled.reshape(-1, *[1] * (x.ndim - 1)), found, 0)


@_extremes.defjvp
def _(count: int, how: str, primals: Sequence[jax.Array], tangents: Sequence[jax.Array]) -> tuple[Any, Any]:
    x, index = primals
    best = _extremes(x, index, count, how)
    # Each of several equal extremes gets the whole gradient, as in Paddle.
    chosen = lax.stop_gradient(x) == lax.stop_gradient(best)[index]
    return best, jax.ops.segment_sum(jnp.where(chosen, tangents[0], 0), index, count)


@op("x index", register=False, method=False)
def rows_at(x: jax.Array, index: jax.Array) -> jax.Array:
    """The rows of x with numbers that are known to exist: nothing counts from the end."""
    return x.at[narrowed(index)].get(mode="clip")


def need_tensors(name: str, **arguments: Any) -> None:
    """Refuses what is no Tensor."""
    for argument, value in arguments.items():
        if not isinstance(value, Tensor):
            raise ArgumentError(f"{name}: {argument}: got {type(value).__name__}; give a Tensor")


def need_numbers(name: str, **arguments: Any) -> None:
    """Refuses Tensors of rows, nodes or edges that are not int32 or int64, or of two dtypes."""
    need_tensors(name, **arguments)
    kinds = {argument: numpy_dtype(value).name for argument, value in arguments.items()}
    if not set(kinds.values()) <= {"int32", "int64"} or len(set(kinds.values())) > 1:
        raise ArgumentError(
            f"{name}: got {', '.join(f'{a} of dtype {k}' for a, k in kinds.items())}; "
            "they must all be int32 or all int64"
        )


def host(name: str, **arguments: Any) -> list[np.ndarray]:
    """The values of Tensors that are needed on the host, as NumPy arrays of one axis."""
    need_tensors(name, **arguments)
    return [np.asarray(value.numpy()).reshape(-1) for value in arguments.values()]
