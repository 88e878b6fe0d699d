"""Numbers made of lengths that are not known while a model file is recorded.

A `Length` stands for an int and carries the expression it comes from; `LengthFloat` and `LengthBool`
likewise. Python's operators give the same kinds again, so code computes with lengths as with numbers, and the
expression becomes operations of the file. Each number has two values, for two assignments of the unknown
lengths. Where an int is asked for, it is the first one.

Expressions are nested tuples (`expressions.py`), so they are hashable and equal across recordings.
"""

from __future__ import annotations

import functools as ft
import operator
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.caller_info import is_ours, is_python_or_numpy, is_users
from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.base.size import Size
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy import length_expressions as ex
from paddle_jax._core.lazy.symbol import SymbolError


class UndecidedError(SymbolError):
    """Python code of the user decides by a length that is not known."""


class _UnknownNumber:
    """A number made of unknown lengths: two values and an expression.

    Attributes:
        pair: tuple of the values under the two assignments of lengths.
        node: its expression, see `expressions.py`.
    """

    __slots__ = ("node", "pair")

    def __init__(self, pair: tuple[Any, Any], node: ex.Node) -> None:
        self.pair: tuple[Any, Any] = pair
        self.node = node

    def __repr__(self) -> str:
        _note_text()
        return repr(self.pair[0])  # a text of it is compared between recordings, as plain numbers are

    def __hash__(self) -> int:
        check_caller()  # a dict or set that it is looked up in decides by the plain number
        return hash(self.pair[0])

    def __bool__(self) -> bool:
        answer = to_bool(self)
        if isinstance(answer, LengthBool):
            check_caller()
            return answer.pair[0]
        return answer

    def __int__(self) -> int:
        check_caller()
        return int(self.pair[0])

    def __float__(self) -> float:
        check_caller()
        return float(self.pair[0])

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.pair[0], dtype)


class _Arithmetic(_UnknownNumber):
    """The methods that `Length` and `LengthFloat` share. The operators follow below."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        _note_text()
        return format(self.pair[0], spec)

    # `_define_operators` and `_define_bit_operators` below make these at run time.
    if TYPE_CHECKING:
        __add__: Callable[[Any], Any]
        __sub__: Callable[[Any], Any]
        __lt__: Callable[[Any], bool]

    def __pos__(self) -> Any:
        return self

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, other: Any, modulo: Any = None) -> Any:
        if modulo is not None:
            return NotImplemented
        return _binary("pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _binary("pow", other, self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return _ufunc(ufunc, method, inputs, options)


class Length(_Arithmetic):
    """A whole number made of unknown lengths.

    `isinstance(n, int)` holds, as for a length that is known. It is no subclass, since Python computes
    `2.0 * n` without asking a subclass of int.
    """

    __slots__ = ()
    __class__ = property(lambda self: int)  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    __index__: Callable[..., Any] = _UnknownNumber.__int__

    def is_integer(self) -> bool:
        """Whether it is a whole number."""
        return True

    def __neg__(self) -> Any:
        return _binary("sub", 0, self)

    def __abs__(self) -> Any:
        return _unary("abs", self)

    def __floor__(self) -> Any:
        return self

    __ceil__ = __floor__
    __trunc__ = __floor__

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None or digits >= 0:
            return self
        raise UndecidedError(
            "round of a length that is not known, to a power of ten; give the length as a number"
        )

    def bit_length(self) -> Any:
        """The number of bits of the absolute value."""
        return _unary("floor", function("log2", abs(self) + 0.5)) + 1


class LengthFloat(_Arithmetic):
    """A float made of unknown lengths; `isinstance(x, float)` holds."""

    __slots__ = ()
    __class__ = property(lambda self: float)  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def is_integer(self) -> bool:
        """Whether it is a whole number."""
        return self == _unary("floor", self)

    def __neg__(self) -> Any:
        return _unary("fneg", self)

    def __abs__(self) -> Any:
        return _unary("fabs", self)

    def __floor__(self) -> Any:
        return _unary("floor", self)

    def __ceil__(self) -> Any:
        return _unary("ceil", self)

    def __trunc__(self) -> Any:
        return _unary("trunc", self)

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None:
            return _unary("round", self)
        raise UndecidedError(
            "round to digits of a float made of a length that is not known; round to a "
            "whole number, or give the length as a number"
        )


class LengthBool(_UnknownNumber):
    """The answer to a question about unknown lengths."""

    __slots__ = ()

    __index__: Callable[..., Any] = _UnknownNumber.__int__

    def __neg__(self) -> Any:
        return -as_int(self)

    def __pos__(self) -> Any:
        return as_int(self)

    __abs__ = __pos__

    if TYPE_CHECKING:
        __and__: Callable[[Any], Any]
        __or__: Callable[[Any], Any]


LENGTHS = (Length, LengthFloat, LengthBool)
_FROM_TEXTS = frozenset(("int", "float", "complex", "eval", "literal_eval"))  # make numbers of texts
_FAMILY = frozenset(LENGTHS)


def is_length(value: Any) -> bool:
    """Whether a value is a number made of unknown lengths."""
    return type(value) in _FAMILY


def has_lengths(value: Any) -> bool:
    """Whether nested lists, tuples, slices and dicts hold numbers made of unknown lengths."""
    if type(value) in _FAMILY:
        return True
    if isinstance(value, list | tuple):
        return any(map(has_lengths, value))
    if isinstance(value, dict):
        return any(map(has_lengths, value.values()))
    if isinstance(value, slice):
        return has_lengths((value.start, value.stop, value.step))
    return False


def lengths_in(value: Any) -> Iterator[Any]:
    """All Lengths in nested lists and tuples."""
    if type(value) is Length:
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from lengths_in(item)


def apparently_fixed(value: Any) -> set[Any]:
    """The values of those Lengths in nested lists and tuples whose two values are equal."""
    return {one.pair[0] for one in lengths_in(value) if one.pair[0] == one.pair[1]}


def expression_of(value: Any) -> Any:
    """The expression of a number."""
    if type(value) in _FAMILY:
        return value.node
    return value


def values_of(value: Any) -> tuple[Any, ...]:
    """The two values of a number."""
    if type(value) in _FAMILY:
        return value.pair
    return (value, value)


def substitute(value: Any, which: int) -> Any:
    """Nested lists, tuples and slices with plain numbers, the values under one of the two assignments."""
    return mapped(value, lambda length: length.pair[which])


def mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    """Nested lists, tuples and slices with each length replaced by what a function gives for it."""
    if type(value) in _FAMILY:
        return function(value)
    if isinstance(value, list | tuple):
        items = [mapped(item, function) for item in value]
        return make_sequence(type(value), items)
    if isinstance(value, slice):
        return slice(*[mapped(item, function) for item in (value.start, value.stop, value.step)])
    return value


def listed(value: Any) -> Any:
    """Nested lists for nested lists and tuples."""
    if isinstance(value, list | tuple):
        return [listed(item) for item in value]
    return value


def raised(length: Any, others: tuple[int, int]) -> Any:
    """A number made of lengths, with other values in place of negative ones; its expression stays."""
    if type(length) is not Length or min(length.pair) >= 0:
        return length
    pair = [other if value < 0 else value for value, other in zip(length.pair, others, strict=True)]
    return Length((pair[0], pair[1]), length.node)


def number(pair: tuple[Any, Any], node: ex.Node) -> Any:
    """The number of a pair of values and an expression; a plain one where the expression is constant."""
    if isinstance(node, int | float):
        return node
    if isinstance(pair[0], bool | np.bool_):
        return LengthBool(pair, node)
    local.ctx.frame.on_length(node, pair)
    if isinstance(pair[0], float):
        return LengthFloat(pair, node)
    return Length(pair, node)


# decisions --------------------------------------------------------------------------------------------------


def check_caller() -> None:
    """Raises if the user's code, or a function of Python or NumPy that it calls, needs the plain number.

    The number would hold for one length alone. Code of this package gets the first value; recordings with
    other lengths are compared with the first, so that what depends on it is found.
    """
    frame = sys._getframe(2)
    # Functions of Python and NumPy ask for the user's code.
    while frame.f_back is not None and is_python_or_numpy(frame.f_globals):
        frame = frame.f_back
    if local.ctx.frame.for_user or is_users(frame.f_globals):
        error = UndecidedError(
            "the code decides by a length that is not known; compare lengths with if, "
            "while, assert, and, or, not, min and max, or give these lengths as numbers "
            "in input_spec"
        )
        local.ctx.frame.on_refusal(error)  # the user's code might catch it
        raise error


def _note_text() -> None:
    """Tells the recording of a text of a length, in code that may make a number of it again."""
    frame = asking_frame(2)
    code = frame.f_code
    is_converted = "ag__" in code.co_freevars
    if is_users(frame.f_globals) and (is_converted or not _FROM_TEXTS.isdisjoint(code.co_names)):
        local.ctx.frame.on_length_text(is_converted)


def asking_frame(depth: int) -> types.FrameType:
    """The frame that asks for a number: Python, NumPy and converted calls ask for the code that calls them.

    Args:
        depth: frames above the caller at which the search begins.
    """
    frame = sys._getframe(depth + 1)
    while frame.f_back is not None and (
        is_python_or_numpy(frame.f_globals) or _calls_for_user(frame.f_globals)
    ):
        frame = frame.f_back
    return frame


def _calls_for_user(scope: dict[str, Any]) -> bool:
    """Whether a module of this package calls what converted code calls."""
    return is_ours(scope) and "._program.rewrite." in scope.get("__name__", "")


def check_text(text: str) -> None:
    """Raises for a number that is made of a text, where there are texts of lengths."""
    if not local.ctx.frame.has_length_texts:
        return
    frame = sys._getframe(1)
    while frame.f_back is not None and not is_users(frame.f_globals):
        frame = frame.f_back
    if any(text == one or isinstance(one, tuple) and text in one for one in frame.f_code.co_consts):
        return  # it stands in the code
    error = UndecidedError(
        f"a number is made of the text {text!r}, which may show a length that is not known; compute "
        "with the length itself, or give it as a number in input_spec"
    )
    local.ctx.frame.on_refusal(error)
    raise error


def logical_not(answer: Any) -> Any:
    """`not answer`."""
    if not isinstance(answer, LengthBool):
        return not answer
    return number(tuple([not one for one in answer.pair]), ex.negate(answer.node))


def to_bool(value: Any) -> Any:
    """The truth of a number: a bool, or a LengthBool."""
    if isinstance(value, LengthBool):
        return value
    if type(value) in _FAMILY:
        return value != 0
    return bool(value)


def _logical(name: str, left: Any, right: Any) -> Any:
    if not isinstance(left, bool | LengthBool) or not isinstance(right, bool | LengthBool):
        return NotImplemented
    function = operator.and_ if name == "and" else operator.or_
    pair = tuple([function(bool(a), bool(b)) for a, b in zip(values_of(left), values_of(right), strict=True)])
    return number(pair, ex.logical(name, expression_of(left), expression_of(right)))


def as_int(value: Any) -> Any:
    """An answer as 0 or 1; another number as it is."""
    if isinstance(value, LengthBool):
        return Length(tuple(map(int, value.pair)), ("int", value.node))
    if isinstance(value, bool | np.bool_):
        return int(value)
    return value


def to_int(value: Any) -> Any:
    """`int(value)`."""
    if isinstance(value, LengthFloat):
        return _unary("trunc", value)
    if type(value) in _FAMILY:
        return as_int(value)
    return int(value)


def to_float(value: Any) -> Any:
    """`float(value)`."""
    if isinstance(value, Length | LengthBool):
        value = as_int(value)
        return LengthFloat(tuple(map(float, value.pair)), ("float", value.node))
    if isinstance(value, LengthFloat):
        return LengthFloat(tuple(map(float, value.pair)), value.node)
    return float(value)


def to_numpy_float(value: Any) -> Any:
    """`np.float64(value)`: a Tensor made of it has the dtype float64."""
    value = to_float(value)
    if is_length(value):
        return LengthFloat(tuple(map(np.float64, value.pair)), value.node)
    return np.float64(value)


def is_numpy_float(value: Any) -> bool:
    """Whether a number stands for a NumPy float."""
    return type(value) is LengthFloat and isinstance(value.pair[0], np.floating)


def select(answer: Any, yes: Any, no: Any) -> Any:
    """`yes if answer else no`, as one number."""
    if not isinstance(answer, LengthBool):
        if answer:
            return yes
        return no
    choices = zip(answer.pair, values_of(yes), values_of(no), strict=True)
    first, second = [a if one else b for one, a, b in choices]
    if isinstance(yes, float) or isinstance(no, float):
        first = float(first)
        second = float(second)
    return number((first, second), ex.select(answer.node, expression_of(yes), expression_of(no)))


def _and(self: Any, other: Any) -> Any:
    """`self & other`."""
    if _are_bools(self, other):
        return _logical("and", self, other)
    return _on_integers(lambda a, b: _binary("bitand", a, b), self, other)


def _or(self: Any, other: Any) -> Any:
    """`self | other`."""
    if _are_bools(self, other):
        return _logical("or", self, other)
    # a | b is a + b - (a & b), for which bounds are known.
    return _on_integers(lambda a, b: a + b - _binary("bitand", a, b), self, other)


def _xor(self: Any, other: Any) -> Any:
    """`self ^ other`."""
    if _are_bools(self, other):
        return _compared("ne", self, other)
    return _on_integers(lambda a, b: a + b - 2 * _binary("bitand", a, b), self, other)


def _are_bools(one: Any, other: Any) -> bool:
    return isinstance(one, bool | LengthBool) and isinstance(other, bool | LengthBool)


def _on_integers(combine: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """`combine` of two whole numbers."""
    left = _as_number(left)
    right = _as_number(right)
    if isinstance(left, int) and isinstance(right, int):
        return combine(left, right)
    return NotImplemented


def _shift_left(number: Any, places: Any) -> Any:
    return number * 2**places


def _shift_right(number: Any, places: Any) -> Any:
    return number // 2**places


# arithmetic -------------------------------------------------------------------------------------------------


def _as_number(value: Any) -> Any:
    """A number that may stand beside a length, else None."""
    is_scalar = isinstance(value, np.ndarray) and not value.ndim
    if isinstance(value, np.float64):
        return value  # a float, of which results are NumPy's, too
    if is_scalar or isinstance(value, np.bool_ | np.integer | np.floating):
        value = value.item()
    if isinstance(value, bool | LengthBool):
        return as_int(value)
    if isinstance(value, int | float):
        return value
    return None


def _binary(name: str, left: Any, right: Any) -> Any:
    left = _as_number(left)
    right = _as_number(right)
    if left is None or right is None:
        return NotImplemented
    function = ex.PYTHON[name]
    pair = _both_values(function, values_of(left), values_of(right))
    if isinstance(pair[0], complex):
        raise UndecidedError(
            "a complex number is made of a length that is not known; give the length as a number"
        )
    whole = isinstance(left, int) and isinstance(right, int)
    if whole and name == "pow" and isinstance(pair[0], float) != isinstance(pair[1], float):
        raise UndecidedError("a power whose exponent is a length of either sign; give the length as a number")
    whole = whole and not isinstance(pair[0], float)
    return number(pair, ex.binary(name, expression_of(left), expression_of(right), whole))


def _both_values(function: Callable[..., Any], left: Sequence[Any], right: Sequence[Any]) -> tuple[Any, ...]:
    """What an operator gives for both assignments of lengths."""
    found = []
    errors = []
    for a, b in zip(left, right, strict=True):
        try:
            found.append(function(a, b))
        except ZeroDivisionError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    # Only one of the two lengths is refused: the other one stands for it.
    return found[0], found[-1]


def _unary(name: str, value: Any) -> Any:
    value = _as_number(value)
    pair = tuple(map(ex.UNARY[name], values_of(value)))
    return number(pair, ex.unary(name, expression_of(value)))


def _compared(name: str, left: Any, right: Any) -> Any:
    left = _as_number(left)
    right = _as_number(right)
    if left is None or right is None:
        return NotImplemented
    function = ex.PYTHON[name]
    pair = tuple([function(a, b) for a, b in zip(values_of(left), values_of(right), strict=True)])
    whole = isinstance(left, int) and isinstance(right, int)
    return number(pair, ex.compare(name, expression_of(left), expression_of(right), whole))


def _define_operators(cls: type) -> None:
    """Gives a class the operators on two numbers."""
    for name, dunder in (
        ("add", "add"),
        ("sub", "sub"),
        ("mul", "mul"),
        ("div", "truediv"),
        ("floordiv", "floordiv"),
        ("mod", "mod"),
    ):
        setattr(cls, f"__{dunder}__", lambda self, other, name=name: _binary(name, self, other))
        setattr(cls, f"__r{dunder}__", lambda self, other, name=name: _binary(name, other, self))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(cls, f"__{name}__", lambda self, other, name=name: _compared(name, self, other))


def _define_bit_operators(cls: type) -> None:
    """Gives a class of whole numbers the operators on bits."""
    for name, combine in (("and", _and), ("or", _or), ("xor", _xor)):
        setattr(cls, f"__{name}__", combine)
        setattr(cls, f"__r{name}__", combine)
    for name, move in (("lshift", _shift_left), ("rshift", _shift_right)):
        setattr(cls, f"__{name}__", lambda self, other, move=move: _on_integers(move, self, other))
        setattr(cls, f"__r{name}__", lambda self, other, move=move: _on_integers(move, other, self))
    cls.__invert__ = lambda self: -1 - as_int(self)


for _cls in LENGTHS:
    _define_operators(_cls)
for _cls in (Length, LengthBool):
    _define_bit_operators(_cls)


# items ------------------------------------------------------------------------------------------------------


def element(items: Sequence[Any], position: Any) -> Any:
    """The item of a list or tuple of numbers at a position that is a Length."""
    if not items:
        raise IndexError("list index out of range")
    index = select(position < 0, position + len(items), position)
    item = items[-1]
    # From the last item on, so that the first one is asked first.
    for i in range(len(items) - 2, -1, -1):
        item = select(index == i, items[i], item)
    return item


# functions --------------------------------------------------------------------------------------------------


def extreme(name: str, values: Any) -> Any:
    """`min(values)` or `max(values)`; name: "min" or "max"."""
    return ft.reduce(ft.partial(_binary, name), values)


def function(name: str, value: Any) -> Any:
    """A function of `math` by its name: sqrt, exp, log, floor, ceil, trunc and so on."""
    return _unary(name, value if name in ("floor", "ceil", "trunc", "abs") else to_float(value))


_UFUNCS = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "mod": "mod",
    "power": "pow",
    "minimum": "min",
    "maximum": "max",
}
_COMPARISONS = {
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "equal": "eq",
    "not_equal": "ne",
}
_FUNCTIONS = ("sqrt", "exp", "log", "log2", "log10", *ex.FUNCTIONS)
_ONE = {
    "absolute": abs,
    "negative": operator.neg,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "fabs": lambda x: abs(to_float(x)),
}
_BITS = {
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
}


def _ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A universal function of NumPy on numbers; NotImplemented for arrays."""
    name = ufunc.__name__
    if method != "__call__" or options or any(isinstance(x, np.ndarray) and x.ndim for x in inputs):
        return _array_ufunc(ufunc, method, inputs, options)
    if name in _UFUNCS:
        result = _binary(_UFUNCS[name], *inputs)
        if any(isinstance(x, np.float32) for x in inputs):  # pyright: ignore[reportArgumentType]
            return result
        return _numpys(result)
    if name in _COMPARISONS:
        return _compared(_COMPARISONS[name], *inputs)
    if name in _BITS:
        return _BITS[name](*inputs)
    # NumPy's names for what Python calls `atan` and `round`.
    if name == "arctan":
        return to_numpy_float(function("atan", inputs[0]))
    if name == "rint":
        return to_numpy_float(round(inputs[0]))
    if name in _FUNCTIONS or name in ("floor", "ceil", "trunc"):
        return to_numpy_float(function(name, inputs[0]))
    if name in _ONE:
        return _numpys(_ONE[name](inputs[0]))
    return _array_ufunc(ufunc, method, inputs, options)


def _numpys(result: Any) -> Any:
    """A result of a NumPy function: a float is NumPy's."""
    return to_numpy_float(result) if isinstance(result, LengthFloat) else result


def _array_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A universal function on the first values: what depends on them is compared between recordings."""
    plain = [value.pair[0] if type(value) in _FAMILY else value for value in inputs]
    return getattr(ufunc, method)(*plain, **options)


# shapes -----------------------------------------------------------------------------------------------------


class OpenSize(Size):
    """A shape with Lengths for the axes that are not known."""

    def __getitem__(self, index: Any) -> Any:
        if is_length(index):
            return element(list(self), index)
        item = list.__getitem__(self, index)
        if isinstance(index, slice):
            return OpenSize(item)
        return item

    def __add__(self, other: Any) -> Any:
        return OpenSize(list.__add__(self, list(other)))

    def __radd__(self, other: Any) -> Any:
        return OpenSize(list(other) + list(self))

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, tuple | list):
            return NotImplemented
        if len(self) != len(other):
            return False
        answer = True
        for one, another in zip(self, other, strict=True):
            equal = one == another
            if equal is False or answer is False:
                return False
            if equal is not True:
                answer = equal if answer is True else answer & equal
        return answer

    def __ne__(self, other: Any) -> Any:
        equal = self == other
        if equal is NotImplemented:
            return equal
        return logical_not(equal)

    __hash__ = Size.__hash__
