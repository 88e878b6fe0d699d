"""Integers and bits: what XLA defines and C leaves open (division by zero, shifts past the width)."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.rules import Avals, Params, Run, define_rule, rule

define_rule(np.bitwise_and, "and")  # of booleans too
define_rule(np.bitwise_or, "or")
define_rule(np.bitwise_xor, "xor")
define_rule(np.invert, "not")


def quotient(dtype: np.dtype) -> Any:
    """Division that drops the fraction; by zero it gives all bits set."""
    one = dtype.type(1)
    ones = dtype.type(np.iinfo(dtype).max if dtype.kind == "u" else -1)  # all bits are set

    def divide(x: np.ndarray, y: np.ndarray) -> Any:
        if _is_usual_number(y):
            down = x // y
            is_negative = _is_negative(x, y)
            if is_negative.any():
                # `//` alone rounds negative quotients down.
                return down + (is_negative & (down * y != x))
            return down
        zero = y == 0
        # Any divisor but zero will do there.
        y = np.where(zero, one, y)
        # Without the remainder the division is exact.
        return np.where(zero, ones, (x - np.fmod(x, y)) // y)

    return divide


def remainder(dtype: np.dtype) -> Any:
    """The remainder of that division, with the sign of the first operand; by zero it gives that operand."""
    one = dtype.type(1)

    def rest(x: np.ndarray, y: np.ndarray) -> Any:
        if _is_usual_number(y):
            difference = x - x // y * y
            is_negative = _is_negative(x, y)
            if is_negative.any():
                # The quotient was rounded down, so the difference has the sign of y.
                return difference - y * (is_negative & (difference != 0))
            return difference
        zero = y == 0
        return np.where(zero, x, np.fmod(x, np.where(zero, one, y)))

    return rest


def _is_usual_number(y: Any) -> bool:
    """Whether a divisor is one number; NumPy divides by that in a fifth of the time.

    The least integer by -1 is left to the general way.
    """
    return np.ndim(y) == 0 and y != 0 and y + 1 != 0


def _is_negative(x: np.ndarray, y: Any) -> np.ndarray:
    """Where a quotient is negative, or would be without rounding."""
    return (x < 0) != (y < 0)


def _shift(name: str, ufunc: Any) -> None:
    """Shifts; from a distance of the width on the result is all zeros, or all copies of the sign for an
    arithmetic shift."""

    @rule(name)
    def build(params: Params, ins: Avals, outs: Avals) -> Run:
        dtype = outs[0].dtype
        unsigned = np.dtype(f"u{dtype.itemsize}")
        bits = unsigned.type(dtype.itemsize * 8)
        signed = name == "shift_right_arithmetic"
        inner = np.dtype(f"i{dtype.itemsize}") if signed else unsigned
        last = inner.type(dtype.itemsize * 8 - 1)

        def shift(x: np.ndarray, distance: Any) -> Any:
            # a negative distance is a large one
            x = x.astype(inner, copy=False)
            distance = distance.astype(unsigned, copy=False)
            inside = distance < bits
            if inside.all():
                moved = ufunc(x, distance.astype(inner, copy=False))
            elif signed:
                moved = ufunc(x, np.where(inside, distance.astype(inner), last))
            else:
                moved = np.where(
                    inside, ufunc(x, np.where(inside, distance, unsigned.type(0))), unsigned.type(0)
                )
            return moved.astype(dtype, copy=False)

        return shift


_shift("shift_left", np.left_shift)
_shift("shift_right_logical", np.right_shift)
_shift("shift_right_arithmetic", np.right_shift)


@rule("population_count")
def _population_count(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = outs[0].dtype
    unsigned = np.dtype(f"u{dtype.itemsize}")
    return lambda x: np.bitwise_count(x.astype(unsigned)).astype(dtype)


@rule("clz")
def _leading_zeros(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = outs[0].dtype
    unsigned = np.dtype(f"u{dtype.itemsize}")
    bits = dtype.itemsize * 8

    def leading_zeros(x: np.ndarray) -> Any:
        x = np.asarray(x).astype(unsigned)
        step = 1
        while step < bits:  # copies the highest set bit downwards
            x = x | (x >> unsigned.type(step))
            step *= 2
        # All bits below the highest one are set now.
        return (bits - np.bitwise_count(x)).astype(dtype)

    return leading_zeros
