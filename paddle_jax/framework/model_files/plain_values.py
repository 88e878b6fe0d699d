"""Plain values that several rules of model files need: lists, shapes, names of data formats."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any


def as_list(value: Any) -> list[Any]:
    """A list or tuple as a list; anything else as the one item of a list."""
    if isinstance(value, list | tuple):
        return list(value)
    return [value]


def with_ones(shape: Sequence[Any], axes: Collection[int]) -> list[Any]:
    """A shape with the length 1 at some axes, as a reduction that keeps them has it."""
    lengths = list(shape)
    for axis in axes:
        lengths[axis] = 1
    return lengths


def shape_along(axis: int, ndim: int) -> list[int]:
    """The shape by which a vector lies along one axis, for products with values of `ndim` axes."""
    lengths = [1] * ndim
    lengths[axis] = -1
    return lengths


def image_format(is_last: bool) -> str:
    """Paddle's name of where images have their channels."""
    # Operations of one and three dimensions take these names as well.
    if is_last:
        return "NHWC"
    return "NCHW"
