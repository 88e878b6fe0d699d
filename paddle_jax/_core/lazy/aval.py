"""Avals: the shape, dtype and weak type of an array, one object per combination."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

if TYPE_CHECKING:
    from paddle_jax._core.lazy.lazy_array import LazyArray

INEXACT = frozenset("fcV")  # NumPy kinds of floating and complex dtypes; ml_dtypes have the kind V
_MAX_AVALS = 1 << 16


class Aval:
    """Shape, dtype and weak type of an array. Code compares Avals by identity.

    Attributes:
        shape: tuple of int.
        dtype: np.dtype.
        weak: bool, whether JAX promotes it like a Python number.
        ndim: int, number of axes.
        size: int, number of elements.
        nbytes: int, size in bytes.
        constants: dict from a number to the LazyArray that is filled with it, and from a text to one whose
            values nothing reads (`unread_operand`).
    """

    __slots__ = ("constants", "dtype", "nbytes", "ndim", "shape", "size", "weak")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, weak: bool) -> None:
        self.shape: tuple[int, ...] = shape
        self.dtype: np.dtype[Any] = dtype
        self.weak: bool = weak
        self.ndim: int = len(shape)
        self.size: int = math.prod(shape)
        self.nbytes: int = self.size * dtype.itemsize
        self.constants: dict[Any, LazyArray] = {}

    def __repr__(self) -> str:
        return f"{self.dtype.name}{list(self.shape)}"

    @property
    def struct(self) -> Any:
        """A jax.ShapeDtypeStruct of the same shape, dtype and weak type."""
        return jax.ShapeDtypeStruct(self.shape, self.dtype, weak_type=self.weak)


_avals: dict[tuple[Any, Any, bool], Aval] = {}


def aval_of(shape: tuple[int, ...], dtype: Any, weak: bool = False) -> Aval:
    """The Aval of a shape and a NumPy dtype."""
    key = (shape, dtype, weak)
    aval = _avals.get(key)
    if aval is None:
        if len(_avals) >= _MAX_AVALS:
            _avals.clear()
        aval = _avals[key] = Aval(tuple(map(int, shape)), np.dtype(dtype), weak)
    return aval


def as_aval(aval: Any) -> Aval:
    """The Aval for the attribute `aval` of a LazyArray, a jax array or a tracer."""
    if type(aval) is Aval:
        return aval
    return aval_of(aval.shape, aval.dtype, aval.weak_type)


def _unused_count() -> int:
    """The reference count of an Aval that only the table holds, measured as `drop_unused_avals` does."""
    table = {0: Aval((), np.dtype(bool), False)}
    return [sys.getrefcount(aval) for _, aval in table.copy().items()][0]


def drop_unused_avals() -> None:
    """Removes the Avals that nothing else refers to from the table."""
    # A copy, since other threads may add Avals.
    unused = [key for key, aval in _avals.copy().items() if sys.getrefcount(aval) <= _UNUSED_COUNT]
    for key in unused:
        _avals.pop(key, None)


_UNUSED_COUNT = _unused_count()
