"""The arrays of a run of the Executor: checks of what is fed, copies to a place, the dtype of results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.held_values import computed_array
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.scope import DenseTensor

if TYPE_CHECKING:
    from paddle_jax._core.tensors.place import Place


def _fits(value: Any, symbol: Symbol) -> bool:
    """Whether an array has a dtype and shape that an input takes."""
    first, second = symbol.avals
    if value.dtype != first.dtype or value.ndim != first.ndim:
        return False
    # An unknown length has another value in each aval.
    return value.shape == first.shape or all(
        n == a or a != b for n, a, b in zip(value.shape, first.shape, second.shape, strict=True)
    )


def on_place(place: Place | None, *groups: list[Any]) -> tuple[list[Any], ...]:
    """Operands of a program where its Executor runs it; as they are where that is the current device."""
    if place is None:
        return groups
    device = places.jax_device(place)
    return tuple([[_on_device(value, device) for value in group] for group in groups])


def _on_device(value: Any, device: Any) -> Any:
    # A copy to the same device would cost time at each step.
    if isinstance(value, jax.Array) and value.committed and value.devices() == {device}:
        return value
    return jax.device_put(value, device)


def fed_value(feed: Mapping[str, Any], name: str, symbol: Symbol) -> Any:
    """The value for a `static.data`."""
    if name not in feed:
        given = ", ".join(map(repr, feed)) or "nothing"
        raise KeyError(
            f"Executor.run: feed: {name!r} is missing; got {given}; feed an array of dtype {symbol.dtype} "
            f"and shape {list(symbol.shape)} (-1: any length)"
        )
    value = feed[name]
    # The usual case first.
    if type(value) is np.ndarray and _fits(value, symbol):
        return value
    return _checked(value, name, symbol)


def _with_ones_as(shape: Sequence[int], declared: Sequence[int]) -> list[int] | None:
    """The lengths of what is fed with the axes of length 1 that the input was declared with, as [32, 1] for
    [32] where it has [-1, 1]; None where they differ by more, or not at all."""
    # Paddle accepts what has the same elements; axes of length 1 are the usual slip.
    declared = [-1 if n is None else n for n in declared]
    if len(shape) == len(declared):
        return None
    lengths = [n for n in shape if n != 1]
    others = sum(n != 1 for n in declared)
    # The unknown length is 1. A sample without its axis of the batch is refused, as [3] for [-1, 3].
    if len(lengths) == others - 1 and declared.count(-1) == 1 and (1 in shape or not shape):
        declared[declared.index(-1)] = 1
    rest = iter(lengths)
    reshaped = [1 if n == 1 else next(rest, -1) for n in declared]
    is_declared = all(n in (-1, length) for n, length in zip(declared, reshaped, strict=True))
    if not is_declared or -1 in reshaped or math.prod(reshaped) != math.prod(shape):
        return None
    return reshaped


def _checked(value: Any, name: str, symbol: Symbol) -> Any:
    """What is fed for an input, checked."""
    # A pending value is computed.
    if isinstance(value, Tensor):
        value = computed_array(value)
    elif isinstance(value, list | tuple | int | float):
        value = np.asarray(value)
        # Numbers of Python have no dtype of their own, so they take that of the input.
        if value.dtype.kind in "biuf":
            value = value.astype(symbol.dtype)
    elif not isinstance(value, jax.Array):
        value = np.asarray(value._array() if isinstance(value, DenseTensor) else value)
    if value.dtype != symbol.dtype:
        raise ValueError(
            f"Executor.run: feed: {name!r}: got dtype {value.dtype}; the input is {symbol.dtype}; use astype"
        )
    shape = _with_ones_as(value.shape, symbol.shape)
    if shape is not None:
        value = value.reshape(shape)
    if not _fits(value, symbol):
        raise ValueError(
            f"Executor.run: feed: {name!r}: got shape {list(value.shape)}; "
            f"the input has {list(symbol.shape)} (-1: any length)"
        )
    return value


def c_typed(array: np.ndarray) -> np.ndarray:
    """A result as Paddle's executor gives it: int64 as C's `long long`, which NumPy prints with its dtype."""
    if array.dtype == np.int64:
        return array.view(np.longlong)
    return array


__all__ = ["c_typed", "fed_value", "on_place"]
