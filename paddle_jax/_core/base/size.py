"""The types of `Tensor.shape` and `Tensor.size`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, overload

import numpy as np
from jax import lax

from paddle_jax._core.base.symbolic_dims import SymbolicDim


def are_known(*lengths: Any) -> bool:
    """Whether all lengths are numbers, or compute and compare as numbers do (`SymbolicDim`).

    They are not where JAX traces for every length (`jax.export`).
    """
    return all(isinstance(n, int | float | np.number | SymbolicDim) for n in lengths)


def as_number(length: Any, dtype: np.dtype) -> Any:
    """A length that `are_known` holds for, as a number that arrays of a dtype are computed with."""
    if type(length) is SymbolicDim:
        return length.as_number(dtype)
    return dtype.type(length)


def is_symbolic(length: Any) -> bool:
    """Whether JAX traces for every value of a length."""
    return type(length).__name__ == "_DimExpr"


def is_traced_length(value: Any) -> bool:
    """Whether a value stands for a whole number while a kernel is traced."""
    return type(value) is SymbolicDim or is_symbolic(value)


def index_range(length: Any, dtype: Any = np.int64) -> Any:
    """The numbers from 0 to length - 1. `jnp.arange` takes no length that stands for others."""
    return lax.iota(dtype, length)


class Size(list[int]):
    """A list of axis lengths that prints as `paddle.Size([2, 3])`; slicing and adding keep the type."""

    def __repr__(self) -> str:
        return f"paddle.Size({list.__repr__(self)})"

    __str__ = __repr__

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Size: ...

    def __getitem__(self, index: Any) -> Any:
        item = list.__getitem__(self, index)
        if isinstance(index, slice):
            # A plain tuple would lose the methods of a Size, such as `numel`.
            return Size(item)
        return item

    def __add__(self, other: Iterable[Any]) -> Size:
        return Size(list.__add__(self, list(other)))

    def __radd__(self, other: Iterable[Any]) -> Size:
        return Size(list(other) + list(self))

    def __mul__(self, count: Any) -> Size:
        return Size(list.__mul__(self, count))

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return hash(tuple(self))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple | list):
            return list.__eq__(self, list(other))
        return NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __reduce__(self) -> tuple[Any, ...]:
        return size_of, (list(self),)  # not by the name of the class, which is Paddle's

    def numel(self) -> int:
        """The product of the lengths."""
        return math.prod(self)


Size.__module__ = "paddle"


def size_of(lengths: Iterable[Any]) -> Size:
    """A Size of lengths; pickles of sizes call it."""
    return Size(lengths)


class TensorSize(int):
    """The number of elements as an int; called it gives the shape, or the length of one axis."""

    _shape: Sequence[int]

    def __new__(cls, shape: Sequence[int]) -> TensorSize:
        size = int.__new__(cls, math.prod(shape))
        size._shape = shape
        return size

    def __call__(self, dim: int | None = None) -> Any:
        """The shape, or the length of an axis."""
        if dim is None:
            return Size(self._shape)
        return self._shape[dim]

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorSize, (tuple(self._shape),)
