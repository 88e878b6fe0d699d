"""ONNX forms of operations on each element, and of what is made of a few of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.framework.model_files.records import NotInOnnx

if TYPE_CHECKING:
    from paddle_jax.onnx.graph import Graph


def _number(g: Graph, op: Any, value: float) -> str:
    """A 0-D tensor of the dtype of the first operand."""
    return g.number(value, op.kind())


def _extreme_without_nan(kind: str) -> Callable[..., Any]:
    """`fmax` or `fmin`: of a number and NaN the number."""

    def rule(g: Graph, op: Any, x: str, y: str) -> str:
        found = g.node(kind, [x, y])
        # Whole numbers have no NaN.
        if not op.kind().startswith(("float", "bfloat")):
            return found
        found = g.node("Where", [g.node("IsNaN", [y]), x, found])
        return g.node("Where", [g.node("IsNaN", [x]), y, found])

    return rule


def _added_product(g: Graph, op: Any, start: str, x: str, y: str) -> str:
    product = g.node("MatMul", [x, y])
    if op.alpha != 1:
        product = g.node("Mul", [product, _number(g, op, op.alpha)])
    if op.beta != 1:
        start = g.node("Mul", [start, _number(g, op, op.beta)])
    return g.node("Add", [start, product])


def _is_finite(g: Graph, op: Any, x: str) -> str:
    if not op.kind().startswith(("float", "bfloat")):
        # Equal to itself: True for all whole numbers.
        return g.node("Equal", [x, x])
    return g.node("Not", [g.node("Or", [g.node("IsNaN", [x]), g.node("IsInf", [x])])])


def _logit(g: Graph, op: Any, x: str) -> str:
    if op.eps:
        # Away from 0 and 1, whose logarithms are infinite.
        x = g.node("Clip", [x, _number(g, op, op.eps), _number(g, op, 1 - op.eps)])
    return g.node("Log", [g.node("Div", [x, g.node("Sub", [_number(g, op, 1), x])])])


def _swiglu(g: Graph, op: Any, x: str, y: str | None = None) -> str:
    if y is None:
        half = op.lengths()[-1] // 2
        if op.lengths()[-1] < 0:
            raise NotInOnnx("halves of an axis whose length is open")
        x, y = g.node("Split", [x, g.ints([half, half])], 2, axis=-1)
    return g.node("Mul", [g.node("Mul", [x, g.node("Sigmoid", [x])]), y])


def _logical(kind: str) -> Callable[..., Any]:
    """Operators on bits, for bools."""

    def rule(g: Graph, op: Any, *operands: Any) -> str:
        if op.kind() != "bool":
            raise NotInOnnx("bits of whole numbers")
        return g.node(kind, operands)

    return rule


def _heaviside(g: Graph, op: Any, x: str, y: str) -> str:
    zero = _number(g, op, 0)
    at_zero = g.node("Where", [g.node("Equal", [x, zero]), y, _number(g, op, 1)])
    return g.node("Where", [g.node("Less", [x, zero]), zero, at_zero])


def _is_close(g: Graph, op: Any, x: str, y: str, rtol: str, atol: str) -> str:
    gap = g.node("Abs", [g.node("Sub", [x, y])])
    # Tolerances may be vectors of one element.
    limits = [g.node("Reshape", [g.cast(one, op.kind()), g.ints([])]) for one in (rtol, atol)]
    limit = g.node("Add", [limits[1], g.node("Mul", [limits[0], g.node("Abs", [y])])])
    # Infinities are close to themselves alone; their difference is NaN.
    found = g.node("Or", [g.node("Equal", [x, y]), g.node("LessOrEqual", [gap, limit])])
    if op.equal_nan:
        found = g.node("Or", [found, g.node("And", [g.node("IsNaN", [x]), g.node("IsNaN", [y])])])
    return found


def _all_of(g: Graph, answers: str) -> str:
    flat = g.node("Reshape", [g.cast(answers, "int32"), g.ints([-1])])
    # With a True at the end, as a reduction of nothing is not defined.
    least = g.node(
        "ReduceMin", [g.node("Concat", [flat, g.constant(np.array([1], np.int32))], axis=0)], keepdims=0
    )
    return g.cast(least, "bool")


def _all_close(g: Graph, op: Any, x: str, y: str, rtol: str, atol: str) -> str:
    return _all_of(g, _is_close(g, op, x, y, rtol, atol))


def _equal_all(g: Graph, op: Any, x: str, y: str) -> str:
    return _all_of(g, g.node("Equal", [x, y]))


def _atan2(g: Graph, op: Any, y: str, x: str) -> str:
    """The angle of (x, y), by the quadrant."""
    zero = _number(g, op, 0)
    half = g.node("Mul", [g.node("Sign", [y]), _number(g, op, np.pi / 2)])
    # Where x is 0 the quotient is not read.
    angle = g.node("Atan", [g.node("Div", [y, x])])
    below = g.node("Less", [y, zero])
    # In the left half the angle is half a turn further, with the sign of y.
    turn = g.node("Where", [below, _number(g, op, -np.pi), _number(g, op, np.pi)])
    left = g.node("Where", [g.node("Less", [x, zero]), g.node("Add", [angle, turn]), angle])
    return g.node("Where", [g.node("Equal", [x, zero]), half, left])


def _angle(g: Any, op: Any, x: Any) -> Any:
    if op.kind().startswith("complex"):
        raise NotInOnnx("complex numbers")
    below = g.node("Less", [x, _number(g, op, 0)])
    found = g.node("Where", [below, _number(g, op, np.pi), _number(g, op, 0)])
    # The angle of NaN is NaN.
    return g.node("Where", [g.node("IsNaN", [x]), x, found])


def _bce_loss(g: Graph, op: Any, x: str, label: str) -> str:
    one, least = _number(g, op, 1), _number(g, op, -100)
    # Logarithms are limited to -100, as in Paddle.
    yes = g.node("Max", [g.node("Log", [x]), least])
    no = g.node("Max", [g.node("Log", [g.node("Sub", [one, x])]), least])
    parts = [g.node("Mul", [label, yes]), g.node("Mul", [g.node("Sub", [one, label]), no])]
    return g.node("Neg", [g.node("Add", parts)])


def _is_empty(g: Any, op: Any, x: Any) -> Any:
    return g.node("Equal", [g.node("Size", [x]), g.number(0, "int64")])


RULES = {
    "fmax": _extreme_without_nan("Max"),
    "fmin": _extreme_without_nan("Min"),
    "addmm": _added_product,
    "baddbmm": _added_product,
    "isfinite": _is_finite,
    "logit": _logit,
    "swiglu": _swiglu,
    "bitwise_and": _logical("And"),
    "bitwise_or": _logical("Or"),
    "bitwise_xor": _logical("Xor"),
    "bitwise_not": _logical("Not"),
    "heaviside": _heaviside,
    "isclose": _is_close,
    "allclose": _all_close,
    "equal_all": _equal_all,
    "atan2": _atan2,
    "angle": _angle,
    "bce_loss": _bce_loss,
    "is_empty": _is_empty,
}
