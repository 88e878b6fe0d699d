"""Questions about lengths that JAX traces for every value.

JAX answers `n == 4` with False where it cannot know, which is right for its own caches. In code of the user
that answer takes one branch for all lengths. While a program is exported such a question is refused there.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import jax
from jax._src.export.shape_poly import _DimExpr
from jax._src.export.shape_poly_decision import _DecisionByElimination

from paddle_jax._core.base.caller_info import is_ours, is_python_or_numpy, is_users
from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.lazy.symbol import SymbolError

# what compares shapes, and decides in converted code, for its caller
_ASKS_FOR_USERS = ("_core.base.size", "_program.control_flow", "_program.rewrite")


def _is_asked_by_user() -> bool:
    """Whether the user's code asks, or a function of Python, NumPy or of shapes that it calls."""
    frame = sys._getframe(2)
    while frame.f_back is not None:
        scope = frame.f_globals
        _, _, inner = scope.get("__name__", "").partition(".")
        # Functions of shapes ask for their caller.
        if not (is_ours(scope) and inner.startswith(_ASKS_FOR_USERS)) and not is_python_or_numpy(scope):
            break
        frame = frame.f_back
    return is_users(frame.f_globals)


def _refuse(question: str) -> None:
    raise SymbolError(f"the code asks whether {question}, which depends on the lengths of the inputs")


def _is_unequal(one: Any, other: Any) -> bool:
    """Whether two lengths differ for all values."""
    # JAX says False for `==` also where it does not know; an order it proves or refuses.
    for is_so in (one.__gt__, one.__lt__):
        with contextlib.suppress(jax.errors.InconclusiveDimensionOperation, TypeError):
            if is_so(other) is True:
                return True
    return False


_equal: Callable[[Any, Any], bool] = _DimExpr.__eq__
_hash: Callable[[Any], int] = _DimExpr.__hash__


def _checked_equal(self: Any, other: Any) -> bool:
    answer = _equal(self, other)
    is_number = isinstance(other, int | float | _DimExpr)
    if answer is False and is_number and _is_asked_by_user() and not _is_unequal(self, other):
        _refuse(f"{self} is {other}")
    return answer


def _checked_unequal(self: Any, other: Any) -> bool:
    answer = _equal(self, other)
    is_number = isinstance(other, int | float | _DimExpr)
    if answer is False and is_number and _is_asked_by_user() and not _is_unequal(self, other):
        _refuse(f"{self} is {other}")
    return not answer


def _checked_truth(self: Any) -> bool:
    if _is_asked_by_user() and not _is_unequal(self, 0):
        _refuse(f"{self} is 0")
    return True


def _checked_hash(self: Any) -> int:
    if _is_asked_by_user():
        _refuse(f"{self} is in a set or a dict")
    return _hash(self)


def _checked_attribute(self: Any, name: str) -> Any:
    """`isinstance(n, int)`, which reads `__class__`, holds for the user, as for a length that is known."""
    if name == "__class__" and _is_asked_by_user():
        return int
    return object.__getattribute__(self, name)


_CHECKED = {
    "__eq__": _checked_equal,
    "__ne__": _checked_unequal,
    "__bool__": _checked_truth,
    "__hash__": _checked_hash,
    "__getattribute__": _checked_attribute,
}


_STEPS_OF_ONE = 5_000  # of JAX's search for the bounds of one expression
_STEPS_OF_ALL = 500_000  # of all searches in one export


@contextlib.contextmanager
def limited_searches() -> Iterator[None]:
    """Inside the block JAX gives up its search for the bounds of a length that takes too long.

    The search is exponential: some lengths took hours. Without bounds a comparison is inconclusive, which JAX
    refuses or expresses as a maximum.
    """
    bounds = _DecisionByElimination.bounds
    search = _DecisionByElimination._bounds_for_sorted_terms
    depth = 0
    used = 0
    used_by_one = 0

    def counted_bounds(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal depth, used_by_one
        # The search calls itself; the count is for one question.
        if depth == 0:
            used_by_one = 0
        depth += 1
        try:
            return bounds(self, *args, **kwargs)
        finally:
            depth -= 1

    def counted_search(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal used, used_by_one
        used += 1
        used_by_one += 1
        if used_by_one > _STEPS_OF_ONE or used > _STEPS_OF_ALL:
            # No bounds: JAX then says that it cannot decide.
            return -math.inf, math.inf
        return search(self, *args, **kwargs)

    with swapped_attributes(
        _DecisionByElimination, bounds=counted_bounds, _bounds_for_sorted_terms=counted_search
    ):
        yield


@contextlib.contextmanager
def refused_questions() -> Iterator[None]:
    """Inside the block questions that have no one answer raise SymbolError in code of the user."""
    # Methods that the class only inherits are removed again below.
    before = {name: vars(_DimExpr)[name] for name in _CHECKED if name in vars(_DimExpr)}
    try:
        for name, method in _CHECKED.items():
            setattr(_DimExpr, name, method)
        yield
    finally:
        for name in _CHECKED:
            if name in before:
                setattr(_DimExpr, name, before[name])
            elif name in vars(_DimExpr):
                delattr(_DimExpr, name)
