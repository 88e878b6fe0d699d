"""Expressions of lengths that are not fixed, as JAX's symbolic dimensions where these can say them.

A number is exact or traced. Exact ones are ints, floats, symbolic dimensions and Ratios; answers are 0 and 1.
Traced ones are arrays without axes: int64, float64 or bool. Exact whole numbers may be sizes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax._src import core

from paddle_jax._core.base.size import is_symbolic
from paddle_jax._core.lazy import length_expressions as ex

Dim: TypeAlias = Any  # an int, or a symbolic dimension
Number: TypeAlias = Any  # a Dim, a Ratio or an array
Leaf: TypeAlias = Callable[[tuple[Any, ...]], Number]

_MAX_DIVISOR = 1 << 20  # of floats that stand for fractions
_MAX_POWER = 4  # dimensions to a higher power are traced


@dataclasses.dataclass(frozen=True, slots=True)
class Ratio:
    """A float that is the quotient of a dimension and a number.

    Attributes:
        number: int or symbolic dimension.
        divisor: int above zero.
    """

    number: Dim
    divisor: int

    @property
    def is_exact(self) -> bool:
        """Whether floats hold the quotient without rounding it."""
        return self.divisor & (self.divisor - 1) == 0


def is_exact(value: Number) -> bool:
    """Whether a number is known as an expression of dimensions."""
    return isinstance(value, int | float | Ratio) or is_symbolic(value)


def is_dim(value: Number) -> bool:
    """Whether a number can be a length."""
    return isinstance(value, int) or is_symbolic(value)


def as_array(value: Number) -> jax.Array:
    """An array of a number: int64, float64 or bool."""
    if isinstance(value, Ratio):
        return as_array(value.number).astype(jnp.float64) / value.divisor
    if is_symbolic(value):
        return jnp.asarray(core.dimension_as_value(value)).astype(jnp.int64)
    if isinstance(value, float):
        return jnp.asarray(value, jnp.float64)
    if isinstance(value, int):
        return jnp.asarray(int(value), jnp.int64)
    return value


def evaluate(node: ex.Node, leaf: Leaf) -> Number:
    """The value of an expression. leaf: function that gives the values of the leaves."""
    if isinstance(node, bool):
        return int(node)
    if not isinstance(node, tuple):
        return node
    if node[0] in ex.LEAVES:
        return leaf(node)
    if node[0] == "lin":
        return _sum(node[1], [(evaluate(atom, leaf), factor) for atom, factor in node[2]])
    parts = [evaluate(part, leaf) for part in node[1:]]
    # Exact parts may give a number that serves as a length; the program computes all others.
    rule = _EXACT.get(node[0])
    if rule is not None and all(map(is_exact, parts)):
        found = rule(*parts)
        if found is not None:
            return found
    return _TRACED[node[0]](*map(as_array, parts))


def selected(answer: Dim, yes: Number, no: Number) -> Number | None:
    """One of two numbers by an exact answer; None where it is no exact number."""
    if is_dim(yes) and is_dim(no):
        return _chosen(answer, yes, no)
    one = _ratio(yes)
    other = _ratio(no)
    if one is None or other is None:
        return None
    number = _chosen(answer, one.number * other.divisor, other.number * one.divisor)
    return Ratio(number, one.divisor * other.divisor)


def _chosen(answer: Dim, yes: Dim, no: Dim) -> Dim:
    if isinstance(answer, int):
        return yes if answer else no
    # The answer is 0 or 1, as an expression of lengths.
    return answer * (yes - no) + no


def _sum(constant: int, terms: Sequence[tuple[Number, int]]) -> Number:
    if all(is_dim(value) for value, _ in terms):
        return constant + sum(factor * value for value, factor in terms)
    return constant + sum(factor * as_array(value).astype(jnp.int64) for value, factor in terms)


# exact numbers ----------------------------------------------------------------------------------------------


def positive(value: Dim) -> Dim:
    """1 where a dimension is above zero, else 0."""
    if isinstance(value, int):
        return int(value > 0)
    # JAX has no comparison as an expression; this one is a whole number all the same.
    return core.min_dim(core.max_dim(value, 0), 1)


def _zero(value: Dim) -> Dim:
    if isinstance(value, int):
        return int(value == 0)
    # Neither above zero nor below.
    return 1 - positive(value) - positive(-value)


def _divided(name: str) -> Callable[..., Dim | None]:
    def rule(left: Dim, right: Dim) -> Dim | None:
        if isinstance(right, int) and right == 0:
            return None
        if name == "floordiv":
            return left // right
        return left % right

    return rule


def _power(left: Dim, right: Dim) -> Dim | None:
    # Other powers are no polynomials of lengths.
    if isinstance(right, int) and 0 <= right <= _MAX_POWER:
        return left**right
    return None


def _ratio(value: Number) -> Ratio | None:
    """An exact number as a Ratio, if it is one."""
    if isinstance(value, Ratio):
        return value
    if isinstance(value, float):
        if value - value != 0:  # it is not finite
            return None
        number, divisor = value.as_integer_ratio()
        # No simple fraction, so its products would have large divisors.
        if divisor > _MAX_DIVISOR:
            return None
        return Ratio(number, divisor)
    return Ratio(value, 1)


def _of_ratios(function: Callable[[Ratio, Ratio], Any]) -> Callable[..., Any]:
    """A rule for two floats that are held without rounding."""

    def rule(left: Number, right: Number) -> Any:
        one = _ratio(left)
        other = _ratio(right)
        if one is None or other is None or not (one.is_exact and other.is_exact):
            return None
        return function(one, other)

    return rule


def _quotient(left: Number, right: Number) -> Ratio | None:
    one = _ratio(left)
    other = _ratio(right)
    if one is None or other is None or not one.is_exact or not isinstance(other.number, int):
        return None
    if other.number == 0:
        return None
    # Divisors stay positive, so that an order of fractions is one of their numerators.
    sign = 1 if other.number > 0 else -1
    divisor = one.divisor * abs(other.number)
    if divisor > _MAX_DIVISOR:
        return None
    return Ratio(one.number * other.divisor * sign, divisor)


def _gap(one: Ratio, other: Ratio) -> Dim:
    """A dimension with the sign of the difference of two Ratios."""
    return one.number * other.divisor - other.number * one.divisor


def _added(one: Ratio, other: Ratio) -> Ratio:
    return Ratio(one.number * other.divisor + other.number * one.divisor, one.divisor * other.divisor)


def _multiplied(one: Ratio, other: Ratio) -> Ratio:
    return Ratio(one.number * other.number, one.divisor * other.divisor)


def _negative(value: Number) -> Ratio | None:
    one = _ratio(value)
    if one is None:
        return None
    return Ratio(-one.number, one.divisor)


def _extreme(choose: Callable[[Dim, Dim], Dim]) -> Callable[[Ratio, Ratio], Ratio]:
    # Over a common divisor only the numerators are compared.
    return lambda one, other: Ratio(
        choose(one.number * other.divisor, other.number * one.divisor), one.divisor * other.divisor
    )


def _rounded(function: Callable[[Ratio], Dim]) -> Callable[..., Any]:
    def rule(value: Number) -> Dim | None:
        one = _ratio(value)
        if one is None:
            return None
        return function(one)

    return rule


def _truncated(one: Ratio) -> Dim:
    downwards = one.number // one.divisor
    # Toward zero: upwards for negative numbers.
    upwards = -(-one.number // one.divisor)
    return _chosen(positive(-one.number), upwards, downwards)


def _nearest(one: Ratio) -> Dim:
    """The nearest whole number; of two the even one."""
    up = (2 * one.number + one.divisor) // (2 * one.divisor)
    is_tie = _zero((2 * one.number + one.divisor) % (2 * one.divisor))
    # A tie that went up to an odd number goes back by one.
    return up - is_tie * (up % 2)


def steps_between(start: Number, end: Number, step: Number) -> Dim | None:
    """How many steps from a start stay before an end; None where that is no expression of dimensions."""
    if not (is_exact(start) and is_exact(end) and is_exact(step)):
        return None
    gap = _of_ratios(lambda a, b: _added(b, Ratio(-a.number, a.divisor)))(start, end)
    distance = _ratio(step)
    if gap is None or distance is None or not distance.is_exact or _is_zero(distance.number):
        return None
    dividend = gap.number * distance.divisor
    divisor = gap.divisor * distance.number
    # Rounded up, and none where the end is not ahead.
    return core.max_dim(-(-dividend // divisor), 0)


def _is_zero(value: Dim) -> bool:
    return isinstance(value, int) and value == 0


_EXACT: dict[str, Callable[..., Any]] = {
    "mul": lambda a, b: a * b,
    "floordiv": _divided("floordiv"),
    "mod": _divided("mod"),
    "pow": _power,
    "min": core.min_dim,
    "max": core.max_dim,
    "abs": lambda a: core.max_dim(a, -a),
    "int": lambda a: a,
    "pos": positive,
    "zero": _zero,
    "not": lambda a: 1 - a,
    "and": lambda a, b: a * b,
    "or": lambda a, b: a + b - a * b,
    "where": selected,
    "float": lambda a: Ratio(a, 1),
    "div": _quotient,
    "fadd": _of_ratios(_added),
    "fsub": _of_ratios(lambda a, b: _added(a, Ratio(-b.number, b.divisor))),
    "fmul": _of_ratios(_multiplied),
    "fmin": _of_ratios(_extreme(core.min_dim)),
    "fmax": _of_ratios(_extreme(core.max_dim)),
    "fneg": _negative,
    "flt": _of_ratios(lambda a, b: positive(-_gap(a, b))),
    "fle": _of_ratios(lambda a, b: 1 - positive(_gap(a, b))),
    "feq": _of_ratios(lambda a, b: _zero(_gap(a, b))),
    "floor": _rounded(lambda a: a.number // a.divisor),
    "ceil": _rounded(lambda a: -(-a.number // a.divisor)),
    "trunc": _rounded(_truncated),
    "round": _rounded(_nearest),
}

# traced numbers ---------------------------------------------------------------------------------------------


def _whole(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """A function of whole numbers, among which answers may be."""
    return lambda *parts: function(*[part.astype(jnp.int64) for part in parts])


def _float(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    return lambda *parts: function(*[part.astype(jnp.float64) for part in parts])


def _logical(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    return lambda *parts: function(*[part.astype(jnp.bool_) for part in parts])


def _to_whole(function: Callable[[jax.Array], jax.Array]) -> Callable[..., jax.Array]:
    return lambda value: function(value.astype(jnp.float64)).astype(jnp.int64)


_TRACED: dict[str, Callable[..., jax.Array]] = {
    "mul": _whole(jnp.multiply),
    "floordiv": _whole(jnp.floor_divide),
    "mod": _whole(jnp.mod),
    "pow": _whole(jnp.power),
    "min": _whole(jnp.minimum),
    "max": _whole(jnp.maximum),
    "bitand": _whole(jnp.bitwise_and),
    "abs": _whole(jnp.abs),
    "int": _whole(lambda value: value),
    "floor": _to_whole(jnp.floor),
    "ceil": _to_whole(jnp.ceil),
    "trunc": _to_whole(jnp.trunc),
    "round": _to_whole(jnp.round),
    "float": _float(lambda value: value),
    "div": _float(jnp.divide),
    "fadd": _float(jnp.add),
    "fsub": _float(jnp.subtract),
    "fmul": _float(jnp.multiply),
    "ffloordiv": _float(jnp.floor_divide),
    "fmod": _float(jnp.mod),
    "fpow": _float(jnp.power),
    "fmin": _float(jnp.minimum),
    "fmax": _float(jnp.maximum),
    "fabs": _float(jnp.abs),
    "fneg": _float(jnp.negative),
    "pos": _whole(lambda value: value > 0),
    "zero": _whole(lambda value: value == 0),
    "flt": _float(jnp.less),
    "fle": _float(jnp.less_equal),
    "feq": _float(jnp.equal),
    "not": _logical(jnp.logical_not),
    "and": _logical(jnp.logical_and),
    "or": _logical(jnp.logical_or),
    "where": lambda answer, yes, no: jnp.where(answer.astype(jnp.bool_), yes, no),
    "atan": _float(jnp.arctan),
    **{name: _float(getattr(jnp, name)) for name in ("sqrt", "exp", "log", "log2", "log10", *ex.FUNCTIONS)},
}

__all__ = [
    "Dim",
    "Number",
    "Ratio",
    "as_array",
    "evaluate",
    "is_dim",
    "is_exact",
    "positive",
    "selected",
    "steps_between",
]
