"""Expressions of unknown lengths as nested tuples, brought to one form so that equal ones are equal.

An expression is a plain number or a tuple whose first item is its kind:

- leaves: ("dim", symbol, axis), a length of a tensor; ("item", symbol, position), an element of one;
  ("counter", symbol, (least, greatest)), the counter of a loop, with expressions of its bounds. The symbol is
  a number that the recording gives each of its values. ("open", number) stands for one of them while an
  operation is traced (`_program/symbolic_shapes.py`).
- whole numbers: ("lin", constant, ((expression, factor), ...)), a sum; ("mul", a, b), ("floordiv", a, b),
  ("mod", a, b), ("pow", a, b), ("min", a, b), ("max", a, b), ("bitand", a, b), ("abs", a), ("int", answer),
  and ("floor", x), ("ceil", x), ("trunc", x), ("round", x) of a float.
- floats: ("float", whole), ("fadd", a, b) and so on, ("div", a, b), ("sqrt", x) and so on.
- answers: ("pos", whole), whether it is above zero; ("zero", whole); ("flt", a, b), ("fle", a, b),
  ("feq", a, b); ("not", a), ("and", a, b), ("or", a, b).
- ("where", answer, a, b) of whole numbers or floats.
"""

from __future__ import annotations

import functools as ft
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Node: TypeAlias = Any  # a number, or a tuple whose first item is its kind
Bounds: TypeAlias = tuple[int | None, int | None]

LEAVES = ("dim", "item", "counter", "open")
# functions of floats that are called the same in Python, NumPy and the file
FUNCTIONS = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "expm1", "log1p")


def leaves_of(node: Node) -> Iterator[tuple[Any, ...]]:
    """All leaves of an expression."""
    if not isinstance(node, tuple):
        return
    if node[0] in LEAVES:
        yield node
    elif node[0] == "lin":
        for atom, _ in node[2]:
            yield from leaves_of(atom)
    else:
        for part in node[1:]:
            yield from leaves_of(part)


def constants_of(node: Node) -> Iterator[int]:
    """All whole numbers in an expression."""
    if isinstance(node, int):
        yield node
    if not isinstance(node, tuple) or node[0] in LEAVES:
        return
    if node[0] == "lin":
        yield node[1]
        for atom, _ in node[2]:
            yield from constants_of(atom)
    else:
        for part in node[1:]:
            yield from constants_of(part)


# whole numbers ----------------------------------------------------------------------------------------------


def _terms(node: Node) -> tuple[int, dict[Node, int]]:
    """(constant, {expression: factor}) of a whole number."""
    if isinstance(node, int):
        return int(node), {}
    if node[0] == "lin":
        return node[1], dict(node[2])
    return 0, {node: 1}


def _sum(constant: int, terms: dict[Node, int]) -> Node:
    """The expression of a sum."""
    # One form for equal sums: no zero factors, no sum of one atom, sorted atoms.
    terms = {atom: factor for atom, factor in terms.items() if factor}
    if not terms:
        return constant
    if constant == 0 and len(terms) == 1:
        ((atom, factor),) = terms.items()
        if factor == 1:
            return atom
    return "lin", constant, tuple(sorted(terms.items(), key=repr))


def add(left: Node, right: Node, factor: int = 1) -> Node:
    """left + factor * right, of whole numbers."""
    constant, terms = _terms(left)
    more, others = _terms(right)
    for atom, count in others.items():
        terms[atom] = terms.get(atom, 0) + factor * count
    return _sum(constant + factor * more, terms)


def multiply(node: Node, factor: int) -> Node:
    """node * factor, of a whole number."""
    constant, terms = _terms(node)
    return _sum(constant * factor, {atom: count * factor for atom, count in terms.items()})


def _product(left: Node, right: Node) -> Node:
    if isinstance(left, int):
        return multiply(right, left)
    if isinstance(right, int):
        return multiply(left, right)
    return ("mul", *sorted((left, right), key=repr))


def _quotient(left: Node, right: Node) -> Node:
    if right == 1:
        return left
    if isinstance(right, int) and right > 0:
        constant, terms = _terms(left)
        # (6 n + 4) // 2 = 3 n + 2; with other factors the rounding depends on n.
        if constant % right == 0 and all(factor % right == 0 for factor in terms.values()):
            return _sum(constant // right, {atom: factor // right for atom, factor in terms.items()})
    return "floordiv", left, right


def _remainder(left: Node, right: Node) -> Node:
    if right == 1:
        return 0
    if isinstance(right, int) and right > 0:
        constant, terms = _terms(left)
        # Multiples of the divisor leave the remainder of the constant.
        if all(factor % right == 0 for factor in terms.values()):
            return constant % right
    return "mod", left, right


def _extreme(name: str, left: Node, right: Node) -> Node:
    # The sign of the difference decides, where it is the same for all lengths.
    low, high = bounds(add(left, right, -1))
    if high is not None and high <= 0:
        if name == "min":
            return left
        return right
    if low is not None and low >= 0:
        if name == "min":
            return right
        return left
    return (name, *sorted((left, right), key=repr))


def _common_bits(left: Node, right: Node) -> Node:
    if isinstance(left, int):
        left, right = right, left
    if not isinstance(right, int):
        return ("bitand", *sorted((left, right), key=repr))
    if right < 0:
        # x & ~m = x - (x & m), for negative numbers, too.
        return add(left, _masked(left, ~right), -1)
    return _masked(left, right)


def _masked(node: Node, mask: int) -> Node:
    """node & mask, for a mask of bits that is not negative: a sum of remainders."""
    total: Node = 0
    position = 0
    while mask >> position:
        if not mask >> position & 1:
            position += 1
            continue
        first = position
        while mask >> position & 1:
            position += 1
        # A run of ones from bit `first` to `position`: (x >> first) % 2^count, put back to its place.
        part = _remainder(_quotient(node, 1 << first), 1 << position - first)
        total = add(total, part, 1 << first)
    return total


_WHOLE = {
    "add": add,
    "sub": lambda a, b: add(a, b, -1),
    "mul": _product,
    "floordiv": _quotient,
    "mod": _remainder,
    "min": ft.partial(_extreme, "min"),
    "max": ft.partial(_extreme, "max"),
    "bitand": _common_bits,
}
PYTHON = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "min": min,
    "max": max,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "bitand": operator.and_,
}


def binary(name: str, left: Node, right: Node, whole: bool) -> Node:
    """The expression of an operator on two numbers. whole: whether the result is a whole number."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        return PYTHON[name](left, right)
    if whole:
        if name in _WHOLE:
            return _WHOLE[name](left, right)
        return (name, left, right)
    if name == "div":
        return "div", left, right
    return "f" + name, left, right


def unary(name: str, node: Node) -> Node:
    """The expression of a function of one number."""
    if name == "abs":
        low, _ = bounds(node)
        if low is not None and low >= 0:
            return node
        return ("abs", node)
    if name in ("floor", "ceil", "trunc", "round") and isinstance(node, tuple) and node[0] == "float":
        return node[1]
    if name in ("floor", "ceil", "trunc") and isinstance(node, tuple) and node[0] == "div":
        return _whole_quotient(name, node)
    return name, node


def _whole_quotient(name: str, node: tuple[Any, ...]) -> Node:
    """floor, ceil or trunc of a quotient of whole numbers, which is exact in whole numbers; else as it is."""
    _, left, right = node
    positive = isinstance(right, int) and right > 0
    if not positive or not is_whole(left) or name == "trunc" and not _at_least(left, 0):
        return name, node
    if name == "ceil":
        return multiply(_quotient(multiply(left, -1), right), -1)
    return _quotient(left, right)


_WHOLE_KINDS = (
    "lin",
    "mul",
    "floordiv",
    "mod",
    "pow",
    "min",
    "max",
    "bitand",
    "abs",
    "int",
    "floor",
    "ceil",
    "trunc",
    "round",
    "dim",
    "counter",
)


def is_whole(node: Node) -> bool:
    """Whether an expression is known to be a whole number."""
    return isinstance(node, int) or (isinstance(node, tuple) and node[0] in _WHOLE_KINDS)


def _at_least(node: Node, least: int) -> bool:
    low, _ = bounds(node)
    return low is not None and low >= least


def rebuilt(node: Node, leaf: Callable[[tuple[Any, ...]], Node]) -> Node:
    """An expression with other ones in place of its leaves."""
    if not isinstance(node, tuple):
        return node
    if node[0] in LEAVES:
        return leaf(node)
    if node[0] == "lin":
        total: Node = node[1]
        for atom, factor in node[2]:
            total = add(total, rebuilt(atom, leaf), factor)
        return total
    parts = [rebuilt(part, leaf) for part in node[1:]]
    if node[0] in _WHOLE:
        return binary(node[0], parts[0], parts[1], True)
    return (node[0], *parts)


# answers ----------------------------------------------------------------------------------------------------


def compare(name: str, left: Node, right: Node, whole: bool) -> Node:
    """The expression of a comparison; a bool where the answer is known."""
    if not whole:
        return _compare_floats(name, left, right)
    if name in ("eq", "ne"):
        same = _is_zero(add(left, right, -1))
        if name == "eq":
            return same
        return negate(same)
    if name in ("gt", "ge"):
        left, right = right, left
    gap = add(right, left, -1)
    return _is_positive(gap if name in ("lt", "gt") else add(gap, 1))


def _compare_floats(name: str, left: Node, right: Node) -> Node:
    if name in ("gt", "ge"):
        left, right = right, left
    kind = {"lt": "flt", "gt": "flt", "le": "fle", "ge": "fle"}.get(name, "feq")
    answer = kind, left, right
    if name == "ne":
        return negate(answer)
    return answer


def _is_positive(node: Node) -> Node:
    low, high = bounds(node)
    if low is not None and low > 0:
        return True
    if high is not None and high <= 0:
        return False
    return "pos", node


def _is_zero(node: Node) -> Node:
    low, high = bounds(node)
    if low is not None and low > 0 or high is not None and high < 0:
        return False
    if low == high == 0:
        return True
    _, terms = _terms(node)
    first = min(terms, key=repr)
    return "zero", (node if terms[first] > 0 else multiply(node, -1))


def negate(answer: Node) -> Node:
    """The expression of `not answer`."""
    if isinstance(answer, bool):
        return not answer
    if answer[0] == "not":
        return answer[1]
    if answer[0] == "pos":
        return _is_positive(add(1, answer[1], -1))
    return "not", answer


def logical(name: str, left: Node, right: Node) -> Node:
    """The expression of `left and right` or `left or right`."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, bool):
            if one is (name == "and"):
                return other
            return one
    if left == right:
        return left
    return (name, left, right)


def select(answer: Node, yes: Node, no: Node) -> Node:
    """The expression of `yes if answer else no`."""
    if yes == no:
        return yes
    return ("where", answer, yes, no)


# bounds -----------------------------------------------------------------------------------------------------


_BOUNDS: dict[str, Bounds] = {"dim": (0, None), "abs": (0, None), "int": (0, 1)}


@ft.lru_cache(maxsize=4096)
def bounds(node: Node) -> Bounds:
    """(least, greatest) value of a whole number; None where there is no bound."""
    if isinstance(node, int):
        return node, node
    kind = node[0]
    if kind in _BOUNDS:
        return _BOUNDS[kind]
    if kind == "counter":
        least, greatest = node[2]
        return bounds(least)[0], bounds(greatest)[1]
    if kind == "lin":
        return _bounds_of_sum(node)
    if kind == "mod" and isinstance(node[2], int) and node[2] > 0:
        return 0, node[2] - 1
    if kind == "floordiv" and isinstance(node[2], int) and node[2] > 0:
        low, high = bounds(node[1])
        return None if low is None else low // node[2], None if high is None else high // node[2]
    if kind in ("min", "max", "where"):
        return _bounds_of_choice(kind, bounds(node[-2]), bounds(node[-1]))
    if kind == "mul" and all(_at_least(part, 0) for part in node[1:]):
        return 0, None
    return None, None


def _bounds_of_sum(node: tuple[Any, ...]) -> Bounds:
    found = [_bounds_of_terms(node)]
    counters = [atom for atom, _ in node[2] if atom[0] == "counter"]
    if counters:
        # `n - 1 - i` is at least 0 where `i` counts up to `n - 1`, though neither has a bound of its own. The
        # innermost loop comes first, as its bounds may be made of other counters.
        inner = max(counters, key=lambda counter: counter[1])
        found.append((bounds(_at_end(node, inner, 0))[0], bounds(_at_end(node, inner, 1))[1]))
    exact = _without_quotients(node)
    if exact != node:
        found.append(bounds(exact))
    lows = [low for low, _ in found if low is not None]
    highs = [high for _, high in found if high is not None]
    return max(lows, default=None), min(highs, default=None)


def _without_quotients(node: tuple[Any, ...]) -> Node:
    """A sum with `x - x % d` in place of each `d * (x // d)`."""
    total: Node = node[1]
    for atom, factor in node[2]:
        divisor = atom[2] if atom[0] == "floordiv" else None
        if isinstance(divisor, int) and divisor > 0 and factor % divisor == 0:
            multiple = add(atom[1], _remainder(atom[1], divisor), -1)
            total = add(total, multiple, factor // divisor)
        else:
            total = add(total, atom, factor)
    return total


def _at_end(node: tuple[Any, ...], counter: tuple[Any, ...], end: int) -> Node:
    """A sum in which a counter has the bound that makes it least (end 0) or greatest (end 1)."""
    factor = dict(node[2])[counter]
    bound = counter[2][end if factor > 0 else 1 - end]
    return add(add(node, counter, -factor), bound, factor)


def _bounds_of_terms(node: tuple[Any, ...]) -> Bounds:
    low = high = node[1]
    for atom, factor in node[2]:
        least, most = bounds(atom)
        if factor < 0:
            least, most = most, least
        if low is None or least is None:
            low = None
        else:
            low = low + factor * least
        if high is None or most is None:
            high = None
        else:
            high = high + factor * most
    return low, high


def _bounds_of_choice(kind: str, one: Bounds, other: Bounds) -> Bounds:
    known_lows = [low for low in (one[0], other[0]) if low is not None]
    known_highs = [high for high in (one[1], other[1]) if high is not None]
    # the bounds that hold for either of the two
    low = min(known_lows) if len(known_lows) == 2 else None
    high = max(known_highs) if len(known_highs) == 2 else None
    if kind == "min":
        return low, min(known_highs, default=None)
    if kind == "max":
        return max(known_lows, default=None), high
    return low, high


# values -----------------------------------------------------------------------------------------------------

UNARY = {
    "abs": abs,
    "fabs": abs,
    "fneg": operator.neg,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": round,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "atan": math.atan,
    **{name: getattr(math, name) for name in FUNCTIONS},
}
_VALUES = {
    **PYTHON,
    **{"f" + name: function for name, function in PYTHON.items()},  # of whole numbers, of floats
    **UNARY,
    "int": int,
    "float": float,
    "pos": lambda a: a > 0,
    "zero": lambda a: a == 0,
    "not": operator.not_,
    "and": operator.and_,
    "or": operator.or_,
    "where": lambda test, a, b: a if test else b,
}


def evaluate(node: Node, leaf: Callable[[tuple[Any, ...]], Any]) -> Any:
    """The value of an expression. leaf: function that gives the values of the leaves."""
    if not isinstance(node, tuple):
        return node
    if node[0] in LEAVES:
        return leaf(node)
    if node[0] == "lin":
        return node[1] + sum(factor * evaluate(atom, leaf) for atom, factor in node[2])
    return _VALUES[node[0]](*[evaluate(part, leaf) for part in node[1:]])
