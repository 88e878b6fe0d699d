"""Lengths of axes that stand for any number while a kernel is traced.

A `SymbolicDim` has the length of the operand at hand, which decides what Python code decides by it. Each such
decision is a guard: the equations hold for other lengths if all guards come out the same. This is how the
symbolic integers of PyTorch's compiler work. JAX takes any object with the method `dimension_as_value` for
the length of an axis.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax import lax
from jax._src.core import Primitive  # jax.extend takes 0.05 s to import
from jax._src.interpreters.partial_eval import DynamicJaxprTrace
from jax._src.lax import utils as lax_utils
from jax.core import ShapedArray

_WEAK_INTEGER = ShapedArray((), np.dtype(np.int64), weak_type=True)
# It has no operands, the parameter `length`, and gives that length as a number. Equations for known lengths
# have a literal in its place.
length_p = Primitive("length")
length_p.def_abstract_eval(lambda *, length: _WEAK_INTEGER)

# Functions of JAX that look for an object in a cache, and compare no lengths themselves. The cache compares
# the object with others that have nothing to do with it. Which ones depends on addresses in memory.
_CACHE_USERS = {
    getattr(function, "__code__", None)
    for function in (ShapedArray.__new__, getattr(DynamicJaxprTrace, "default_process_primitive", None))
}


class LengthNumber:
    """The value of a literal that is computed from lengths.

    Attributes:
        number: function that gives it from the values of an environment.
        bind: function that gives it as an array of the trace that is under way.
    """

    __slots__ = ("bind", "number")

    def __init__(self, number: Callable[[Sequence[int]], Any], bind: Callable[[], Any]) -> None:
        self.number: Callable[[Sequence[int]], Any] = number
        self.bind: Callable[[], Any] = bind


class NotGeneralError(Exception):
    """Code needs to know a length, so its equations hold for that length only."""


class ShapeEnvironment:
    """The symbolic lengths of one trace, what is computed from them, and what is decided by them.

    Attributes:
        hints: list of the values that stand for the lengths while the kernel is traced, and of what is
            computed from them.
        length_count: int, number of lengths; they come first in `hints`.
        is_tracing: bool, whether the trace goes on. Afterwards nothing can be decided.
    """

    __slots__ = ("_guards", "_nodes", "_operations", "hints", "is_tracing", "length_count")

    def __init__(self, lengths: Sequence[int]) -> None:
        self.hints: list[int] = list(lengths)
        self.length_count: int = len(lengths)
        self.is_tracing: bool = True
        # (function, left, right), where an operand is (number of a node, None) or (None, constant)
        self._operations: list[tuple[Any, ...]] = []
        self._nodes: dict[tuple[Any, ...], SymbolicDim] = {}
        self._guards: dict[tuple[Any, ...], bool] = {}

    def lengths(self) -> list[SymbolicDim]:
        """The symbolic lengths."""
        return [SymbolicDim(self, node) for node in range(self.length_count)]

    def compute(self, function: Callable[[int, int], int], left: Any, right: Any) -> SymbolicDim:
        """The result of an operation of which one operand at least is symbolic."""
        key = (function, *self._operand(left), *self._operand(right))
        known = self._nodes.get(key)
        if known is None:
            hint = function(self._hint(left), self._hint(right))
            self._operations.append(key)
            self.hints.append(hint)
            known = self._nodes[key] = SymbolicDim(self, len(self.hints) - 1)
        return known

    def decide(self, comparison: Callable[[int, int], bool], left: Any, right: Any) -> bool:
        """The result of a comparison for the lengths at hand, which becomes a guard."""
        if not self.is_tracing:
            raise NotGeneralError("a length is compared after its trace")
        key = (comparison, *self._operand(left), *self._operand(right))
        known = self._guards.get(key)
        if known is None:
            known = self._guards[key] = bool(comparison(self._hint(left), self._hint(right)))
        return known

    def values_for(self, lengths: Sequence[int]) -> list[int] | None:
        """The lengths and what is computed from them; None if a guard comes out otherwise."""
        values = list(lengths)
        for function, left, left_constant, right, right_constant in self._operations:
            a = left_constant if left is None else values[left]
            b = right_constant if right is None else values[right]
            # The trace divided by this number, which was not zero then.
            if b == 0 and function in (operator.floordiv, operator.mod):
                return None
            values.append(function(a, b))
        for (comparison, left, left_constant, right, right_constant), expected in self._guards.items():
            a = left_constant if left is None else values[left]
            b = right_constant if right is None else values[right]
            if comparison(a, b) is not expected:
                return None
        return values

    def _operand(self, x: Any) -> tuple[int | None, int | None]:
        if type(x) is not SymbolicDim:
            return None, x
        if x.environment is not self:
            raise NotGeneralError("a length of another trace")
        return x.node, None

    def _hint(self, x: Any) -> int:
        if type(x) is SymbolicDim:
            return self.hints[x.node]
        return x


def _as_integer(x: Any) -> int | None:
    if isinstance(x, int | np.integer | np.bool_):
        return int(x)
    return None


class SymbolicDim:
    """The length of an axis in a trace, or an integer computed from such lengths.

    It cannot be made an int (`operator.index` raises TypeError), so JAX keeps it as it is.

    Attributes:
        environment: ShapeEnvironment of its trace.
        node: int, its number there.
    """

    __slots__ = ("environment", "node")

    def __init__(self, environment: ShapeEnvironment, node: int) -> None:
        self.environment: ShapeEnvironment = environment
        self.node: int = node

    def __hash__(self) -> int:
        return hash((id(self.environment), self.node))

    def __repr__(self) -> str:
        return f"<length {self.node}>"

    def dimension_as_value(self) -> Any:
        """The length as an array, for JAX."""
        return length_p.bind(length=self)

    def as_number(self, dtype: np.dtype) -> Any:
        """The length as an array of a dtype, without a weak type."""
        return lax.convert_element_type(self.dimension_as_value(), dtype)

    def is_within(self, first: int, end: int) -> bool:
        """Whether the length is in range(first, end)."""
        decide = self.environment.decide
        return decide(operator.ge, self, first) and decide(operator.lt, self, end)

    def __eq__(self, other: object) -> bool:
        if type(other) is SymbolicDim:
            # Each trace has lengths of its own.
            if other.environment is not self.environment:
                return False
            if other.node == self.node:
                return True
            if sys._getframe(1).f_code in _CACHE_USERS:
                return False
            return self.environment.decide(operator.eq, self, other)
        number = _as_integer(other)
        if number is None or not self.environment.is_tracing:  # a cache of JAX looks for something else
            return False
        if sys._getframe(1).f_code in _CACHE_USERS:
            return False
        return self.environment.decide(operator.eq, self, number)

    def __bool__(self) -> bool:
        return self.environment.decide(operator.ne, self, 0)

    # JAX asks for these where a plain number would go through Python's min and max.
    def min(self, other: Any) -> Any:
        return min(self, other)

    def max(self, other: Any) -> Any:
        return max(self, other)

    def rmin(self, other: Any) -> Any:
        return min(other, self)

    def rmax(self, other: Any) -> Any:
        return max(other, self)

    def __neg__(self) -> Any:
        return self.environment.compute(operator.sub, 0, self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        if self.environment.decide(operator.ge, self, 0):
            return self
        return -self

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self


def node_numbers(shape: Sequence[Any]) -> tuple[int, ...]:
    """The lengths of a shape: a symbolic one as the number of its node, another as its complement, which is
    negative."""
    return tuple([n.node if type(n) is SymbolicDim else ~n for n in shape])


def filled_shape(nodes: Sequence[int], numbers: Sequence[int]) -> tuple[int, ...]:
    """The shape that `node_numbers` gave these nodes for, with the numbers of nodes filled in."""
    return tuple([numbers[n] if n >= 0 else ~n for n in nodes])


def _arithmetic(name: str, function: Callable[[int, int], int]) -> None:
    def method(self: SymbolicDim, other: Any) -> Any:
        if type(other) is not SymbolicDim:
            other = _as_integer(other)
            if other is None:
                return NotImplemented
        return self.environment.compute(function, self, other)

    def swapped(self: SymbolicDim, other: Any) -> Any:
        other = _as_integer(other)
        if other is None:
            return NotImplemented
        return self.environment.compute(function, other, self)

    setattr(SymbolicDim, f"__{name}__", method)
    setattr(SymbolicDim, f"__r{name}__", swapped)


def _comparison(name: str, function: Callable[[int, int], bool]) -> None:
    def method(self: SymbolicDim, other: Any) -> Any:
        if type(other) is not SymbolicDim:
            other = _as_integer(other)
            if other is None:
                return NotImplemented
        return self.environment.decide(function, self, other)

    setattr(SymbolicDim, f"__{name}__", method)


for _name, _function in (
    ("add", operator.add),
    ("sub", operator.sub),
    ("mul", operator.mul),
    ("floordiv", operator.floordiv),
    ("mod", operator.mod),
):
    _arithmetic(_name, _function)
for _name, _function in (
    ("lt", operator.lt),
    ("le", operator.le),
    ("gt", operator.gt),
    ("ge", operator.ge),
):
    _comparison(_name, _function)


def _knowing_lengths(choose: Callable[..., Any]) -> Callable[..., Any]:
    """JAX's choice of a dtype for indices, which takes 64 bits where a length is no int.

    For a symbolic length it is that of the numbers that take its place, with a guard.
    """

    def choice(lengths: Any, *, signed: bool) -> Any:
        if type(lengths) is SymbolicDim:
            lengths = _of_same_width(lengths)
        elif type(lengths) in (list, tuple):
            lengths = tuple([_of_same_width(n) if type(n) is SymbolicDim else n for n in lengths])
        return choose(lengths, signed=signed)

    return choice


def _of_same_width(length: SymbolicDim) -> int:
    """A number that needs as many bits as a length."""
    for bits in (32, 31):
        if not length.is_within(0, 1 << bits):
            return 1 << bits
    return 0


for _name in ("int_dtype_for_dim", "int_dtype_for_shape"):
    # Other versions of JAX may lack them. Indexing is traced for each shape there.
    if hasattr(lax_utils, _name):
        setattr(lax_utils, _name, _knowing_lengths(getattr(lax_utils, _name)))
