"""Open lengths of StableHLO files, and the bounds that let JAX answer questions about them."""

from __future__ import annotations

import functools as ft
import itertools
import re
from typing import Any, NamedTuple

import jax

from paddle_jax._core.base import dtype as dtypes

_AXES = "bnhwdefgijkl"  # letters of open lengths, by their axis
# A program may compare lengths with small numbers, such as the size of a window. Where JAX cannot know the
# answer, the file is for lengths from one of these on. 0: as JAX has it, without bounds.
_LEAST_LENGTHS = (0, 1, 2, 4, 8, 16)
LARGEST_LENGTH = 2**31 - 1
_LARGEST_LEAST = 1 << 20  # of what a program may ask for
_MOST_CONDITIONS = 4  # in one file
_NAME = r"\b[a-z]\d*\b"
_LETTER = r"\b[a-z]\b"
_scope_numbers = itertools.count(1)


class Bounds(NamedTuple):
    """Of the length along an axis.

    Attributes:
        least: int. 0: no bounds.
        largest: int.
    """

    least: int = 0
    largest: int = LARGEST_LENGTH


class OpenLengths:
    """Open lengths with bounds of their own.

    Lengths of two scopes of JAX cannot be compared, and kernels are kept by shapes. So there is one object in
    the process for each choice of bounds, with names of its own. A scope may have no bounds of lengths that
    are not used.

    Args:
        bounds: (axis, Bounds) of each axis along which inputs are open.
        conditions: lengths of results that JAX must take as not negative, as texts in which the letter of an
            axis is its length.
    Attributes:
        bounds, conditions: as given.
        names: dict from these axes to the names of their lengths.
        scope: jax.export.SymbolicScope.
    """

    def __init__(self, bounds: tuple[tuple[int, Bounds], ...], conditions: tuple[str, ...] = ()) -> None:
        self.bounds = bounds
        self.conditions = conditions
        is_bounded = any(bound.least for _, bound in bounds)
        # A scope with constraints has names of its own.
        number = str(next(_scope_numbers)) if is_bounded else ""
        self.names: dict[int, str] = {axis: f"{_AXES[axis]}{number}" for axis, _ in bounds}
        constraints = []
        for axis, bound in bounds:
            if bound.least:
                name = self.names[axis]
                constraints += [f"{name} >= {bound.least}", f"{name} <= {bound.largest}"]
        for text in conditions:
            constraints.append(re.sub(_LETTER, lambda found: found.group() + number, text) + " >= 0")
        self.scope: Any = jax.export.SymbolicScope(constraints) if is_bounded else _unbounded_scope()

    def described(self, spec: Any) -> jax.ShapeDtypeStruct:
        """Shape and dtype of an InputSpec."""
        dims = [self.names[axis] if n in (-1, None) else str(n) for axis, n in enumerate(spec.shape)]
        shape = jax.export.symbolic_shape(",".join(dims), scope=self.scope)
        return jax.ShapeDtypeStruct(shape, dtypes.convert(spec.dtype or dtypes.default()).np)

    def narrowed(self, refusal: Exception) -> OpenLengths | None:
        """As this, with bounds that may mend what JAX refused; None where there are none."""
        comparison = _comparison(refusal)
        compared = compared_names(refusal)
        limits = _limits(refusal)
        bounds = dict(self.bounds)
        conditions = self.conditions
        leasts = [bounds[axis].least for axis, name in self.names.items() if name in compared]
        if comparison and len(compared) > 1 and min(leasts, default=0) > 1:
            condition = _condition(*comparison)
            if condition and len(conditions) < _MOST_CONDITIONS:
                return open_lengths(self.bounds, (*conditions, condition))
        for axis, name in self.names.items():
            bound = bounds[axis]
            if limits.get(name, bound.largest) < bound.largest:
                bounds[axis] = Bounds(max(bound.least, 1), limits[name])
            elif name in compared and comparison:
                bounds[axis] = bound._replace(least=_next_least(bound.least, comparison))
        if bounds == dict(self.bounds):
            return None
        return open_lengths(tuple(bounds.items()), conditions)


open_lengths = ft.cache(OpenLengths)


# Lengths of different scopes cannot be compared, so all share one.
@ft.cache
def _unbounded_scope() -> Any:
    return jax.export.SymbolicScope()


def bounds_text(least: int, largest: int) -> str:
    """The bounds of a length, for a message."""
    if largest == LARGEST_LENGTH:
        return f"{least} or more"
    return f"{least} to {largest}"


def _comparison(error: BaseException | None) -> tuple[str, str, str] | None:
    """(left, operator, right) of two lengths that JAX could not compare, by an error or its causes."""
    # JAX's refusal may be the cause of another error.
    while error is not None:
        found = re.search(r"comparison '(.+?)' (\S+) '(.+?)' is inconclusive", str(error))
        if found:
            left, operator, right = found.groups()
            return left, operator, right
        error = error.__cause__ or error.__context__
    return None


def compared_names(error: BaseException | None) -> set[str]:
    """The names in two lengths that JAX could not compare."""
    comparison = _comparison(error)
    if comparison is None:
        return set()
    left, _, right = comparison
    return set(re.findall(_NAME, f"{left} {right}"))


def _condition(left: str, operator: str, right: str) -> str | None:
    """A length that is compared with 0, with the letters of axes for names. It is never negative."""
    if operator != ">=" or right != "0":
        return None
    return re.sub(_NAME, lambda found: found.group()[0], left)


def _next_least(least: int, comparison: tuple[str, str, str]) -> int:
    """A larger bound of a length, for which JAX may know the answer; the same one if there is none."""
    exact = _decided_from(*comparison)
    if exact is not None and least < exact <= _LARGEST_LEAST:
        return exact
    # One step at a time: the file is to be for as many lengths as possible.
    return min((n for n in _LEAST_LENGTHS if n > least), default=least)


_MIRRORED = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}


def _decided_from(left: str, operator: str, right: str) -> int | None:
    """The least length from which on a comparison has one answer; None where it is not `a * n + b`."""
    one, other = _linear(left), _linear(right)
    names = set(re.findall(_NAME, f"{left} {right}"))
    if one is None or other is None or operator not in _MIRRORED or len(names) != 1:
        return None
    factor, constant = one[0] - other[0], one[1] - other[1]
    if factor == 0:
        return None
    if factor < 0:
        factor, constant, operator = -factor, -constant, _MIRRORED[operator]
    if operator in (">=", "<"):
        return -(constant // factor)
    return -constant // factor + 1


def _linear(text: str) -> tuple[int, int] | None:
    """(a, b) of `a * n + b`; None of other expressions."""
    factor = 0
    constant = 0
    for sign, term in re.findall(r"(^|[+-] ?|^-)([^ +-]+)", text.replace(" - ", " + -")):
        found = re.fullmatch(r"(?:(\d+)\*)?([a-z]\d*)|(\d+)", term)
        if found is None:
            return None
        size, name, number = found.groups()
        direction = -1 if "-" in sign else 1
        if name:
            factor += direction * int(size or 1)
        else:
            constant += direction * int(number)
    return factor, constant


def _limits(error: BaseException | None) -> dict[str, int]:
    """Where an error says that lengths `min(n, 64)` and n differ: {name: 64}. A table has 64 rows, of which
    the program takes n."""
    found: dict[str, int] = {}
    while error is not None:
        if "Incompatible shapes" in str(error):
            for name, number in re.findall(r"\bmin\(([a-z]\d*), (\d+)\)", str(error)):
                found[name] = min(int(number), found.get(name, LARGEST_LENGTH))
        error = error.__cause__ or error.__context__
    return {name: number for name, number in found.items() if number}
