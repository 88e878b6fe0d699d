"""The registry: for each primitive, how to run it with NumPy.

A rule is `build(params, ins, outs) -> run`: from the parameters of an equation and the avals of its operands
and results it makes a function of arrays, once, when a plan is made. `run` may get NumPy scalars in place of
0-d arrays and may give them; it never writes into an operand; it may give an operand, or a view of one. For a
primitive with several results it gives a sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

Params: TypeAlias = dict[str, Any]  # parameters of an equation
Avals: TypeAlias = Sequence[Any]  # avals of its operands or results
Run: TypeAlias = Callable[..., Any]  # function of NumPy arrays

RULES: dict[str, Callable[[Params, Avals, Avals], Run]] = {}


class Refusal(Exception):
    """There is no plan; the message is the reason."""


def rule(*names: str) -> Callable[[Callable[..., Run]], Callable[..., Run]]:
    """Registers the decorated builder for the primitives of these names."""

    def register(build: Callable[..., Run]) -> Callable[..., Run]:
        for name in names:
            RULES[name] = build
        return build

    return register


def define_rule(run: Run, *names: str) -> None:
    """Registers one function that does not depend on parameters."""
    rule(*names)(lambda params, ins, outs: run)


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
    size = 1
    for length in aval.shape:
        size *= length
    return size
