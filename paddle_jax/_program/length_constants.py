"""Constants whose shapes or numbers depend on lengths of the inputs."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass(slots=True, eq=False)
class Filled:
    """An array of one number.

    Attributes:
        number: int, float, bool or Length, the number.
        dtype: str, name of the dtype.
        shape: list of ints and Lengths.
    """

    number: Any
    dtype: str
    shape: list[Any]


@dataclasses.dataclass(slots=True, eq=False)
class Ramp:
    """The array start, start + step, start + 2 * step, and so on.

    Attributes:
        start: int or float, the first number.
        step: int or float, the difference of two numbers.
        dtype: str, name of the dtype.
        shape: list of one Length.
    """

    start: complex
    step: complex
    dtype: str
    shape: list[Any]


def is_uniform(array: np.ndarray) -> bool:
    """Whether all numbers of an array are the same one, or all are NaN."""
    first = array.flat[0]
    # NaN differs from itself.
    if first == first:
        return bool((array == first).all())
    return bool((array != array).all())


def flat_numbers(numbers: Any) -> list[Any]:
    """The numbers in nested lists, one after the other."""
    if not isinstance(numbers, list | tuple):
        return [numbers]
    return [number for item in numbers for number in flat_numbers(item)]


__all__ = ["Filled", "Ramp", "flat_numbers", "is_uniform"]
