"""Putting values where a mask is true: the masked_* functions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.axes import concrete
from paddle_jax.tensor.scattering import values_for


@known_as(pir="masked_fill", code="indexing:fill_masked")
@op("x mask value", register=False, method=False)
def fill_masked(x: jax.Array, mask: jax.Array, value: jax.Array) -> jax.Array:
    """x with value where the mask holds."""
    try:
        jnp.broadcast_shapes(x.shape, mask.shape, value.shape)
    except ValueError:
        raise ValueError(
            f"masked_fill: shapes {list(x.shape)}, {list(mask.shape)}, {list(value.shape)} do not broadcast"
        ) from None
    return jnp.where(mask.astype(bool), value, x)


@known_as(pir="masked_fill")
@composite(
    inplace=True,
    cases=[
        "f(2,2), b(2,2), 9",
        "~f(2,2), b(2), const(9.0, 'float32')",
        "~f(2,2), b(2), f(2)",
        "i(2,2), b(2), i(2)",
        "f(2), b(1,2), 9",
        "f(2), i_(2), 9",
        "i(3), b(3), 2.5",
        "f(2), b(2), const(2, 'int64')",
        "f(3), b(2), 2",
        "f(0,2), b(0,2), 1.0",
        "f(), const(True), 3.0",
        "f(3), b(3), float('-inf')",
    ],
)
def masked_fill(x: Tensor, mask: Tensor, value: Any, name: str | None = None) -> Tensor:
    """Replaces the elements where the mask is true.

    Args:
        x: Tensor [...].
        mask: bool Tensor that broadcasts with x.
        value: number, or Tensor of the dtype of x that broadcasts.
    Returns:
        Tensor of the shape that x and mask broadcast to.
    Raises:
        ValueError: shapes do not broadcast, or the dtype of value differs.
    Example:
        >>> paddle.masked_fill(paddle.to_tensor([1, 2]), paddle.to_tensor([True, False]), 9).tolist()
        [9, 2]
    """
    return fill_masked(x, mask, values_for("masked_fill", x, value, "value"))


@known_as(code="element_moves:fill_in_order")
@op("x mask value", register=False, method=False)
def fill_in_order(x: jax.Array, mask: jax.Array, value: jax.Array) -> jax.Array:
    """x with the next element of value at each place where the mask holds."""
    shape = jnp.broadcast_shapes(x.shape, mask.shape)
    mask = jnp.broadcast_to(mask, shape)
    # How many places come before each one.
    at = jnp.cumsum(mask.reshape(-1)) - 1
    # In an empty array there is no position to clip to.
    if value.size:
        return jnp.where(mask, jnp.take(value.reshape(-1), at, mode="clip").reshape(shape), x)
    return jnp.broadcast_to(x, shape)


@composite(
    inplace=True,
    cases=[
        "f(2,2), const([[True, False], [False, True]]), f(3)",
        "f(2,2), const([True, False]), f(3)",
        "f(2,2), const([[True, False], [False, True]]), i(4)",
        "f(2,2), i_(2,2), f(4)",
        "f(2,2), const([[False, False], [False, True]]), f(4)",
        "i(4), const([True, True, False, True]), i(5)",
    ],
)
def masked_scatter(x: Tensor, mask: Tensor, value: Tensor, name: str | None = None) -> Tensor:
    """Replaces the elements where the mask is true by the elements of value, in order.

    Args:
        x: Tensor [...].
        mask: bool Tensor that broadcasts with x.
        value: Tensor of the dtype of x with at least as many elements as the mask has true ones.
    Returns:
        Tensor of the shape and dtype of x.
    Raises:
        AssertionError: the mask is not bool, or the dtypes differ.
        ValueError: value has too few elements.
    Example:
        >>> paddle.masked_scatter(paddle.zeros([3]), paddle.to_tensor([True, False, True]),
        ...                       paddle.to_tensor([5.0, 6.0])).tolist()
        [5.0, 0.0, 6.0]
    """
    if numpy_dtype(mask) != np.bool_ or numpy_dtype(value) != numpy_dtype(x):
        got = [numpy_dtype(t).name for t in (x, mask, value)]
        raise AssertionError(
            f"masked_scatter: x, mask, value: got dtypes {', '.join(got)}; "
            "the mask must be bool, x and value must be equal"
        )
    known = concrete(mask)
    if known is not None:
        # A mask that broadcasts counts several times.
        times = np.prod(np.broadcast_shapes(tuple(x.shape), known.shape)) // max(known.size, 1)
        if known.sum() * times > value.size:
            raise CheckError(
                f"masked_scatter: value: got {value.size} elements; the mask needs {known.sum() * times}"
            )
    return fill_in_order(x, mask, value)
