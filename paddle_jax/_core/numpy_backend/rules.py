"""The registry: for each primitive, how to run it with NumPy.

A rule is `build(params, ins, outs) -> run`: from the parameters of an equation and the avals of its operands
and results it makes a function of arrays, once, when a plan is made. `run` may get NumPy scalars in place of
0-d arrays and may give them; it never writes into an operand; it may give an operand, or a view of one. For a
primitive with several results it gives a sequence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

Params: TypeAlias = dict[str, Any]  # parameters of an equation
Avals: TypeAlias = Sequence[Any]  # avals of its operands or results
Run: TypeAlias = Callable[..., Any]  # function of NumPy arrays

RULES: dict[str, Callable[[Params, Avals, Avals], Run]] = {}
# The primitives whose functions do not depend on the lengths of axes, only on dtypes and parameters.
OF_ANY_LENGTHS: set[str] = set()


class ArrayType:
    """The type of an array, which is what rules read of an aval.

    Attributes:
        shape: tuple of int.
        dtype: np.dtype.
        size: int, number of elements.
        nbytes: int, size in bytes.
    """

    __slots__ = ("dtype", "nbytes", "shape", "size")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape: tuple[int, ...] = shape
        self.dtype: np.dtype[Any] = dtype
        self.size: int = math.prod(shape)
        self.nbytes: int = self.size * dtype.itemsize


class Refusal(Exception):
    """There is no plan; the message is the reason."""


def rule(*names: str, of_any_lengths: bool = False) -> Callable[[Callable[..., Run]], Callable[..., Run]]:
    """Registers the decorated builder for the primitives of these names.

    Args:
        names: those of the primitives.
        of_any_lengths: whether the function depends on dtypes and parameters alone, not on lengths.
    """

    def register(build: Callable[..., Run]) -> Callable[..., Run]:
        for name in names:
            RULES[name] = build
        if of_any_lengths:
            OF_ANY_LENGTHS.update(names)
        return build

    return register


def define_rule(run: Run, *names: str) -> None:
    """Registers one function that does not depend on parameters."""
    rule(*names, of_any_lengths=True)(lambda params, ins, outs: run)


def with_into(run: Any, into: Run) -> Run:
    """The function of an equation, with one that takes an array as `out` and writes the result into it."""
    run.into = into
    return run


def is_low(dtype: np.dtype) -> bool:
    """Whether a dtype is a floating type of 16 bits or fewer, which NumPy computes slowly or not at all."""
    return dtype.kind == "V" or dtype == np.float16


def compute_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype in which XLA's CPU compiler computes: float32 for the small floating types, else
    the dtype itself."""
    if is_low(dtype):
        return np.dtype(np.float32)
    return dtype


def in_compute_dtype(run: Run, ins: Avals, out: Any) -> Run:
    """`run` on operands widened to float32 where their type is small, the result rounded once."""
    if not is_low(out.dtype) and not any(is_low(a.dtype) for a in ins):
        return run
    low = [is_low(a.dtype) for a in ins]

    def widened(*operands: Any) -> np.ndarray:
        wide_operands = [x.astype(np.float32) if small else x for x, small in zip(operands, low, strict=True)]
        return np.asarray(run(*wide_operands)).astype(out.dtype, copy=False)

    return widened


def size_of(aval: Any) -> int:
    """The number of elements."""
    if type(aval) is ArrayType:
        return aval.size
    size = 1
    for length in aval.shape:
        size *= length
    return size
