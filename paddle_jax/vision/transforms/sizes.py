"""Sizes and borders as users give them."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddle_jax._annotations import Size


def pair(size: Size) -> tuple[int, ...]:
    """(height, width) of a number or a pair."""
    if isinstance(size, numbers.Number):
        return (int(size), int(size))
    return tuple(size)


def resized(height: int, width: int, size: Size) -> tuple[int, ...]:
    """Height and width after resizing: those asked for, or the shorter side as asked and the other
    one in proportion."""
    if not (isinstance(size, int) or isinstance(size, list | tuple) and len(size) == 2):
        raise TypeError(f"resize: size: got {size!r}; it must be an int or a pair of ints")
    if not isinstance(size, int):
        return tuple(size)
    # Nothing to do, and no rounding of the other side.
    if min(height, width) == size:
        return height, width
    if width < height:
        return (int(size * height / width), size)
    return (size, int(size * width / height))


def corner(height: int, width: int, output_size: Size) -> tuple[int, int, int, int]:
    """(top, left, height, width) of the middle part."""
    rows, columns = pair(output_size)
    return round((height - rows) / 2.0), round((width - columns) / 2.0), rows, columns


def four(padding: Size) -> tuple[int, ...]:
    """(left, top, right, bottom) of a border given by one, two or four numbers."""
    if not isinstance(padding, int | list | tuple):
        raise TypeError(f"pad: padding: got {padding!r}; it must be an int, a pair or four ints")
    if isinstance(padding, int):
        return (padding,) * 4
    if len(padding) not in (2, 4):
        raise ValueError(f"pad: padding: got {len(padding)} numbers; there must be one, two or four")
    # Two numbers are (left and right, top and bottom).
    return tuple(padding) * (4 // len(padding))
