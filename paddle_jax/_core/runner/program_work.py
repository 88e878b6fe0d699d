"""Estimates how much a program computes, from its equations alone."""

from __future__ import annotations

import math
from typing import Any

from paddle_jax._core.kernels.dependence import inner_jaxprs
from paddle_jax._core.numpy_backend.cost import SPECIAL, arithmetic

# A program that takes less runs in the thread that calls it, see inline_programs.py: what the thread could do
# meanwhile is not worth waking up another one.
_SHORT = 6e-5


def is_short(jaxpr: Any) -> bool:
    """Whether a program takes so little that it is to run inline."""
    return _seconds(jaxpr) < _SHORT


def _seconds(jaxpr: Any) -> float:
    return sum(map(_seconds_of_equation, jaxpr.eqns))


def _seconds_of_equation(equation: Any) -> float:
    name = equation.primitive.name
    # The jaxpr inside a scatter says how it joins two numbers.
    inner = [] if name in SPECIAL else list(map(_seconds, inner_jaxprs(equation)))
    # Nobody knows how often the body of a loop with a condition runs.
    if name == "while":
        return math.inf
    if name == "cond":
        return max(inner)
    if inner:
        return equation.params.get("length", 1) * sum(inner)
    return arithmetic(
        name, equation.params, [v.aval for v in equation.invars], [v.aval for v in equation.outvars]
    )
