"""The types of `Tensor.shape` and `Tensor.size`."""

import math

import numpy as np


def known(*lengths) -> bool:
    """Whether lengths are numbers: not so where JAX traces for every length (`jax.export`)."""
    return all(isinstance(n, int | float | np.number) for n in lengths)


def is_open(length) -> bool:
    """Whether it is a length that JAX traces for every value of it."""
    return type(length).__name__ == "_DimExpr"


class Size(list):
    """A list of axis lengths that prints as `paddle.Size([2, 3])`; slicing and adding keep the type."""

    def __repr__(self):
        return f"paddle.Size({list.__repr__(self)})"

    __str__ = __repr__

    def __getitem__(self, index):
        got = list.__getitem__(self, index)
        return Size(got) if isinstance(index, slice) else got

    def __add__(self, other):
        return Size(list.__add__(self, list(other)))

    def __radd__(self, other):
        return Size(list(other) + list(self))

    def __mul__(self, count):
        return Size(list.__mul__(self, count))

    def __hash__(self):
        return hash(tuple(self))

    def __eq__(self, other):
        return list.__eq__(self, list(other)) if isinstance(other, tuple | list) else NotImplemented

    def __ne__(self, other):
        return not self == other

    def __reduce__(self):
        return size_of, (list(self),)  # not by its name, which is Paddle's

    def numel(self):
        """The product of the lengths."""
        return math.prod(self)


Size.__module__ = "paddle"


def size_of(lengths):
    """A Size of lengths; how sizes are unpickled."""
    return Size(lengths)


class TensorSize(int):
    """The number of elements as an int; called it gives the shape, or the length of one axis."""

    def __new__(cls, shape):
        made = int.__new__(cls, math.prod(shape))
        made._shape = shape
        return made

    def __call__(self, dim=None):
        """The shape, or the length of an axis."""
        return Size(self._shape) if dim is None else self._shape[dim]

    def __reduce__(self):
        return TensorSize, (tuple(self._shape),)
