"""Expressions of unknown lengths as nested tuples, brought to one form so that equal ones are equal.

An expression is a plain number or a tuple whose first item is its kind:

- leaves: ("dim", symbol, axis), a length of a tensor; ("item", symbol, position), an element of one;
  ("counter", symbol, (least, greatest)), a number that a loop counts, with expressions of its bounds or None.
  The symbol is a number that the recording gives each of its values. ("open", number) stands for one of them
  while an operation is traced (`_program/symbolic_shapes.py`).
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from paddle_jax._core.base.state import local

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


def terms_of(node: Node) -> tuple[int, dict[Node, int]]:
    """(constant, {expression: factor}) of a whole number."""
    if isinstance(node, int):
        return int(node), {}
    if node[0] == "lin":
        return node[1], dict(node[2])
    return 0, {node: 1}


def sum_of(constant: int, terms: dict[Node, int]) -> Node:
    """The expression of a sum."""
    # One form for equal sums: no zero factors, no sum of one atom, sorted atoms.
    terms = {atom: factor for atom, factor in terms.items() if factor}
    if not terms:
        return constant
    # A single term needs no sum.
    if constant == 0 and len(terms) == 1:
        ((atom, factor),) = terms.items()
        if factor == 1:
            return atom
    # In one order, so that equal sums are equal tuples.
    return "lin", constant, tuple(sorted(terms.items(), key=repr))


def add(left: Node, right: Node, factor: int = 1) -> Node:
    """left + factor * right, of whole numbers."""
    constant, terms = terms_of(left)
    more, others = terms_of(right)
    for atom, count in others.items():
        terms[atom] = terms.get(atom, 0) + factor * count
    return sum_of(constant + factor * more, terms)


def multiply(node: Node, factor: int) -> Node:
    """node * factor, of a whole number."""
    constant, terms = terms_of(node)
    return sum_of(constant * factor, {atom: count * factor for atom, count in terms.items()})


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
        constant, terms = terms_of(left)
        # (6 n + 4) // 2 = 3 n + 2; with other factors the rounding depends on n.
        if constant % right == 0 and all(factor % right == 0 for factor in terms.values()):
            return sum_of(constant // right, {atom: factor // right for atom, factor in terms.items()})
    return "floordiv", left, right


def _remainder(left: Node, right: Node) -> Node:
    if right == 1:
        return 0
    if isinstance(right, int) and right > 0:
        constant, terms = terms_of(left)
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
        # Rounding up is rounding the negative down.
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
    # For whole numbers a <= b means b - a + 1 > 0.
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
    # x - y and y - x are zero together, so one sign stands for both.
    _, terms = terms_of(node)
    first = min(terms, key=repr)
    return "zero", (node if terms[first] > 0 else multiply(node, -1))


def negate(answer: Node) -> Node:
    """The expression of `not answer`."""
    if isinstance(answer, bool):
        return not answer
    if answer[0] == "not":
        return answer[1]
    if answer[0] == "pos":
        # For whole numbers x <= 0 means 1 - x > 0.
        return _is_positive(add(1, answer[1], -1))
    return "not", answer


def logical(name: str, left: Node, right: Node) -> Node:
    """The expression of `left and right` or `left or right`."""
    # A known answer decides, or leaves the decision to the other one.
    for one, other in ((left, right), (right, left)):
        if isinstance(one, bool):
            if one is (name == "and"):
                return other
            return one
    if left == right:
        return left
    return (name, left, right)


def positive_ones(answer: Node, implied: Mapping[Node, Any] = MappingProxyType({})) -> Iterator[Node]:
    """Expressions that are above zero where an answer holds.

    implied: for the elements of Tensors that are answers, what is above zero where they hold, and where not.
    """
    kind = answer[0] if isinstance(answer, tuple) else None
    if kind == "pos":
        yield from _consequences(answer[1])
    elif kind == "zero":
        # x = 0 means x + 1 > 0 and 1 - x > 0.
        yield from _consequences(add(answer[1], 1))
        yield from _consequences(add(1, answer[1], -1))
    elif kind == "and":
        yield from positive_ones(answer[1], implied)
        yield from positive_ones(answer[2], implied)
    elif kind == "not" and answer[1][0] == "or":
        # not (a or b) = not a and not b
        yield from positive_ones(negate(answer[1][1]), implied)
        yield from positive_ones(negate(answer[1][2]), implied)
    elif answer in implied:
        yield from implied[answer][0]
    elif kind == "not" and answer[1] in implied:
        yield from implied[answer[1]][1]


def _consequences(node: Node) -> Iterator[Node]:
    """An expression that is above zero, and others that are then, too, of parts of it."""
    yield node
    constant, terms = terms_of(node)
    for atom, factor in terms.items():
        rest = add(node, atom, -factor)
        # i < min(n, 5): i < n and i < 5
        if atom[0] == ("min" if factor > 0 else "max"):
            for choice in atom[1:]:
                yield from _consequences(add(rest, choice, factor))
        elif _is_quotient(atom):
            # i < n // 2: 2 i < n - 1, as 2 (n // 2) is between n - 1 and n.
            dividend, divisor = atom[1:]
            bound = dividend if factor > 0 else add(dividend, 1 - divisor)
            scaled = add(multiply(rest, divisor), bound, factor)
            yield from _consequences(add(scaled, 1 - divisor))


def select(answer: Node, yes: Node, no: Node) -> Node:
    """The expression of `yes if answer else no`."""
    if yes == no:
        return yes
    return ("where", answer, yes, no)


# bounds -----------------------------------------------------------------------------------------------------


class _Facts(NamedTuple):
    """What is known where the code runs.

    Attributes:
        positive: tuple of expressions that are above zero.
        uses: int, how many of them one answer may still use: each further one multiplies the time by their
            number.
    """

    positive: tuple[Node, ...]
    uses: int


_MOST_FACTS = 16  # the innermost conditions
# Facts in one proof; each one more multiplies the search.
_MOST_USED = 2
# Whatever is inside: a length, for example, is at least 0.
_BOUNDS: dict[str, Bounds] = {"dim": (0, None), "abs": (0, None), "int": (0, 1)}


def bounds(node: Node) -> Bounds:
    """(least, greatest) value of a whole number where the code runs; None where there is no bound."""
    return _known_bounds(node, _Facts(local.ctx.frame.assumed[-_MOST_FACTS:], _MOST_USED))


@ft.lru_cache(maxsize=4096)
def _known_bounds(node: Node, facts: _Facts) -> Bounds:
    """As `bounds`, where some expressions are above zero."""
    if isinstance(node, int):
        return node, node
    found = [_bounds_of_kind(node, facts)]
    leaves = set(leaves_of(node))
    for expression in facts.positive if facts.uses else ():
        if not leaves.isdisjoint(leaves_of(expression)):
            # Each fact is used once at most, so that the search ends.
            others = tuple([other for other in facts.positive if other != expression])
            found.append(_bounds_beside(node, expression, _Facts(others, facts.uses - 1)))
    return _tightest(found)


def _tightest(found: Sequence[Bounds]) -> Bounds:
    lows = [low for low, _ in found if low is not None]
    highs = [high for _, high in found if high is not None]
    return max(lows, default=None), min(highs, default=None)


def _bounds_beside(node: Node, expression: Node, facts: _Facts) -> Bounds:
    """Bounds of a whole number made of those of its rest, where an expression is above zero."""
    terms = terms_of(node)[1]
    for atom, factor in terms_of(expression)[1].items():
        count, left_over = divmod(terms.get(atom, 0), factor)
        if not count or left_over:
            continue
        # node = count * expression + rest, so a positive count gives a lower bound.
        low, high = _known_bounds(add(node, expression, -count), facts)
        if count > 0:
            return None if low is None else low + count, None
        return None, None if high is None else high + count
    return None, None


def _bounds_of_kind(node: tuple[Any, ...], facts: _Facts) -> Bounds:
    """The bounds that an expression of a kind has of itself."""
    kind = node[0]
    if kind in _BOUNDS:
        return _BOUNDS[kind]
    if kind == "counter":
        least, greatest = node[2]
        return _between(least, greatest, facts)
    if kind == "lin":
        return _bounds_of_sum(node, facts)
    if kind == "mod" and isinstance(node[2], int) and node[2] > 0:
        return 0, node[2] - 1
    if _is_quotient(node):
        low, high = _known_bounds(node[1], facts)
        if low is not None:
            low //= node[2]
        if high is not None:
            high //= node[2]
        return low, high
    if kind in ("min", "max", "where"):
        one, other = [_known_bounds(choice, facts) for choice in node[-2:]]
        return _bounds_of_choice(kind, one, other)
    if kind == "mul" and all(_is_at_least_zero(part, facts) for part in node[1:]):
        return 0, None
    return None, None


def _is_at_least_zero(node: Node, facts: _Facts) -> bool:
    low, _ = _known_bounds(node, facts)
    return low is not None and low >= 0


def _between(least: Node | None, greatest: Node | None, facts: _Facts) -> Bounds:
    """Bounds of what is between two expressions, or None where there is no such expression."""
    low = None if least is None else _known_bounds(least, facts)[0]
    high = None if greatest is None else _known_bounds(greatest, facts)[1]
    return low, high


def _bounds_of_sum(node: tuple[Any, ...], facts: _Facts) -> Bounds:
    found = [_bounds_of_terms(node, facts)]
    counters = [atom for atom, _ in node[2] if atom[0] == "counter"]
    if counters:
        # `n - 1 - i` is at least 0 where `i` counts up to `n - 1`, though neither has a bound of its own. A
        # counter that no bounds are made of comes first.
        needed = {leaf for counter in counters for end in counter[2] for leaf in leaves_of(end)}
        inner = max(set(counters) - needed, key=lambda counter: counter[1])
        found.append(_between(at_end(node, inner, 0), at_end(node, inner, 1), facts))
    choice = next((atom for atom, _ in node[2] if atom[0] in _OPPOSITE), None)
    if choice is not None:
        found.append(_bounds_by_choice(node, choice, facts))
    scale = math.lcm(*[atom[2] for atom, _ in node[2] if _is_quotient(atom)])
    exact = _without_quotients(multiply(node, scale))
    if exact != node:
        low, high = _known_bounds(exact, facts)
        # Rounded inwards: the sum itself is a whole number.
        if low is not None:
            low = -(-low // scale)
        if high is not None:
            high //= scale
        found.append((low, high))
    return _tightest(found)


_OPPOSITE = {"min": "max", "max": "min", "where": "where"}


def _bounds_by_choice(node: Node, choice: tuple[Any, ...], facts: _Facts) -> Bounds:
    """Bounds of a sum in which one of two numbers is chosen: `n - min(n, 5)` is at least 0."""
    factor = terms_of(node)[1][choice]
    rest = add(node, choice, -factor)
    one, other = [_known_bounds(add(rest, part, factor), facts) for part in choice[-2:]]
    # A negative factor makes the smaller number the greater sum.
    return _bounds_of_choice(choice[0] if factor > 0 else _OPPOSITE[choice[0]], one, other)


def _is_quotient(node: Node) -> bool:
    return node[0] == "floordiv" and isinstance(node[2], int) and node[2] > 0


def _without_quotients(node: tuple[Any, ...]) -> Node:
    """A sum with `x - x % d` in place of each `d * (x // d)`."""
    total: Node = node[1]
    for atom, factor in node[2]:
        if _is_quotient(atom) and factor % atom[2] == 0:
            multiple = add(atom[1], _remainder(atom[1], atom[2]), -1)
            total = add(total, multiple, factor // atom[2])
        else:
            total = add(total, atom, factor)
    return total


def at_end(node: Node, counter: tuple[Any, ...], end: int) -> Node | None:
    """A sum in which a counter has the bound that makes it least (end 0) or greatest (end 1); None where it
    has no such bound."""
    factor = terms_of(node)[1][counter]
    bound = counter[2][end if factor > 0 else 1 - end]
    if bound is None:
        return None
    return add(add(node, counter, -factor), bound, factor)


def _bounds_of_terms(node: tuple[Any, ...], facts: _Facts) -> Bounds:
    low = high = node[1]
    for atom, factor in node[2]:
        least, most = _known_bounds(atom, facts)
        if factor < 0:
            # A negative factor exchanges the bounds.
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
        # On this side one known bound is enough.
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
