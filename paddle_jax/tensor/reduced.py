"""What reductions share: checks of the axes they work over, and the dtype they accumulate in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax._core.base.errors import ArgumentError

if TYPE_CHECKING:
    import jax


def accumulated(function: Callable[..., Any], x: jax.Array, *args: Any, **kwargs: Any) -> jax.Array:
    """function(x, ...) with float16 and bfloat16 accumulated as float32, which XLA does for
    parts of a sum only."""
    if x.dtype not in (jnp.float16, jnp.bfloat16):
        return function(x, *args, **kwargs)
    return function(x.astype(jnp.float32), *args, **kwargs).astype(x.dtype)


def total(x: jax.Array, axes: Any = None, keepdims: bool = False) -> jax.Array:
    """The sum over axes in the dtype of x."""
    return accumulated(lambda x: jnp.sum(x, axes, dtype=x.dtype, keepdims=keepdims), x)


def one_axis(op: str, axis: Any, ndim: Any) -> int:
    """A single axis in 0..ndim-1; a 0-d tensor counts as having one axis.

    Raises:
        ArgumentError: axis is not an int (TypeError or ValueError in Paddle).
        ValueError: axis is out of range.
    """
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise ArgumentError(f"{op}: axis: got {axis!r}; it must be an int")
    rank = max(ndim, 1)
    if not -rank <= axis < rank:
        raise ValueError(f"{op}: axis={axis} is out of range for {ndim} axes; use {-rank}..{rank - 1}")
    return axis % rank


def all_axes(op: str, axis: Any, ndim: Any) -> tuple[int, ...] | tuple[()]:
    """The axes to reduce over as a sorted tuple of numbers in 0..ndim-1. None and an empty list mean all.

    Raises:
        ArgumentError: axis is not an int or a list of ints.
        ValueError: an axis is out of range or given twice.
    """
    if axis is None or axis == ():
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple | list) else (axis,)
    found = [one_axis(op, a, ndim) for a in given]
    if len(set(found)) != len(found):
        raise ValueError(f"{op}: axis={axis} names an axis twice; give each once")
    if ndim:
        return tuple(sorted(found))
    return ()
