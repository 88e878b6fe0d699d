"""Writing expressions of unknown lengths as operations on tensors without axes: whole numbers are int64,
floats are float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.lazy.length_expressions import FUNCTIONS

if TYPE_CHECKING:
    from paddle_jax.framework.model_files.builder import Builder, Value


def write_expression(w: Builder, node: Any) -> Any:
    """The Value of an expression. w: the Builder."""
    if isinstance(node, bool):
        return w.full(int(node), "bool", ())
    if isinstance(node, int):
        return w.full(node, "int64", ())
    if isinstance(node, float):
        return w.full(node, "float64", ())
    # The same expression is written once in a block.
    key = "expression", node
    if key not in w.cache:
        w.cache[key] = _WRITERS[node[0]](w, *node[1:])
    return w.cache[key]


# leaves -----------------------------------------------------------------------------------------------------


def _dim(w: Builder, number: int, axis: int) -> Value:
    # The value is not made yet, but its lengths are those of others.
    likely = w.likely(number)
    if likely is not None and likely[axis] is not None:
        return write_expression(w, likely[axis])
    value = w.resolve(number)
    key = "shape", value.number
    if key not in w.cache:
        w.cache[key] = w.op("shape64", [value], ("int64", [value.ndim]))
    return _element(w, w.cache[key], axis)


def _element(w: Builder, vector: Value, position: int) -> Any:
    return w.op(
        "slice",
        [vector, w.ints([position]), w.ints([position + 1])],
        (vector.dtype, []),
        axes=[0],
        infer_flags=[1],
        decrease_axis=[0],
    )


def _item(w: Builder, number: int, position: int) -> Value:
    value = w.resolve(number)
    # An item of a vector.
    if value.ndim:
        value = _element(w, w.op("reshape", [value, w.ints([-1])], (value.dtype, [-1])), position)
    if value.dtype == "bool":
        return value
    # Expressions know whole numbers and floats, whatever the width.
    return _cast(w, value, "float64" if value.dtype.startswith(("float", "bfloat")) else "int64")


def _cast(w: Builder, value: Value, dtype: str) -> Any:
    if value.dtype == dtype:
        return value
    return w.op("cast", [value], (dtype, []), dtype=dtype)


# whole numbers ----------------------------------------------------------------------------------------------


def _sum(w: Builder, constant: int, terms: Sequence[Any]) -> Value | None:
    total = None
    for atom, factor in terms:
        term = write_expression(w, atom)
        # Without a product by 1.
        if factor != 1:
            term = _operation(w, "multiply", term, write_expression(w, factor))
        if total is None:
            total = term
        else:
            total = _operation(w, "add", total, term)
    if constant:
        return _operation(w, "add", total, write_expression(w, constant))
    return total


def _operation(w: Builder, name: str, left: Value, right: Value) -> Any:
    """An operation on two Values of one dtype. Paddle may compute in place on the first one: it is copied."""
    return w.op(name, [w.copy(left), right], (left.dtype, []))


def _whole(name: str) -> Callable[..., Any]:
    return lambda w, left, right: _operation(w, name, write_expression(w, left), write_expression(w, right))


def _abs(w: Any, node: Any) -> Any:
    value = w.copy(write_expression(w, node))
    return w.op("abs", [value], value.type)


def _rounded(name: str) -> Callable[..., Any]:
    """floor, ceil or trunc of a float as a whole number."""

    def write(w: Any, node: Any) -> Any:
        value = _float(w, node)
        return _cast(w, w.op(name, [value], value.type), "int64")

    return write


def _round(w: Any, node: Any) -> Any:
    """The nearest whole number; of two the even one, as Python rounds."""
    value = _float(w, node)
    up = w.op("floor", [_operation(w, "add", value, write_expression(w, 0.5))], value.type)
    # Half-way between two whole numbers: `floor(x + 0.5)` is the upper one.
    tie = w.op("equal", [_operation(w, "subtract", up, value), write_expression(w, 0.5)], ("bool", []))
    odd = w.op(
        "equal",
        [_operation(w, "remainder", up, write_expression(w, 2.0)), write_expression(w, 1.0)],
        ("bool", []),
    )
    # The upper one is odd there, so the lower one is even.
    down = w.op("logical_and", [tie, odd], ("bool", []))
    return _cast(w, _operation(w, "subtract", up, _cast(w, down, "float64")), "int64")


# floats -----------------------------------------------------------------------------------------------------


def _float(w: Any, node: Any) -> Any:
    return _cast(w, write_expression(w, node), "float64")


def _floats(name: str) -> Callable[..., Any]:
    return lambda w, left, right: _operation(w, name, _float(w, left), _float(w, right))


def _function(name: str) -> Callable[..., Any]:
    def write(w: Any, node: Any) -> Any:
        value = _float(w, node)
        return w.op(name, [value], value.type)

    return write


def _negative(w: Any, node: Any) -> Any:
    return _operation(w, "subtract", write_expression(w, 0.0), _float(w, node))


# answers ----------------------------------------------------------------------------------------------------


def _compared(name: str, convert: Callable[..., Any]) -> Callable[..., Any]:
    return lambda w, left, right: w.op(name, [convert(w, left), convert(w, right)], ("bool", []))


def _compared_to_zero(name: str) -> Callable[..., Any]:
    return lambda w, node: w.op(name, [write_expression(w, node), write_expression(w, 0)], ("bool", []))


def _logical(name: str) -> Callable[..., Any]:
    return lambda w, left, right: w.op(
        name, [write_expression(w, left), write_expression(w, right)], ("bool", [])
    )


def _not(w: Builder, node: Sequence[int | str]) -> Any:
    return w.op("logical_not", [write_expression(w, node)], ("bool", []))


def _where(w: Builder, answer: Sequence[Any], yes: Sequence[Any], no: Sequence[Any]) -> Any:
    values = [write_expression(w, yes), write_expression(w, no)]
    # Python's numbers of both kinds become floats.
    if values[0].dtype != values[1].dtype:
        values = [_cast(w, value, "float64") for value in values]
    return w.op("where", [write_expression(w, answer), w.copy(values[0]), values[1]], values[0].type)


_WRITERS = {
    "dim": _dim,
    "item": _item,
    "counter": lambda w, number, _: _item(w, number, 0),
    "lin": _sum,
    "mul": _whole("multiply"),
    "floordiv": _whole("floor_divide"),
    "mod": _whole("remainder"),
    "pow": _whole("elementwise_pow"),
    "min": _whole("minimum"),
    "max": _whole("maximum"),
    "bitand": _whole("bitwise_and"),
    "abs": _abs,
    "int": lambda w, node: _cast(w, write_expression(w, node), "int64"),
    "floor": _rounded("floor"),
    "ceil": _rounded("ceil"),
    "trunc": _rounded("trunc"),
    "round": _round,
    "float": _float,
    "div": _floats("divide"),
    "fadd": _floats("add"),
    "fsub": _floats("subtract"),
    "fmul": _floats("multiply"),
    "ffloordiv": _floats("floor_divide"),
    "fmod": _floats("remainder"),
    "fpow": _floats("elementwise_pow"),
    "fmin": _floats("minimum"),
    "fmax": _floats("maximum"),
    "fabs": _function("abs"),
    "fneg": _negative,
    "pos": _compared_to_zero("greater_than"),
    "zero": _compared_to_zero("equal"),
    "flt": _compared("less_than", _float),
    "fle": _compared("less_equal", _float),
    "feq": _compared("equal", _float),
    "not": _not,
    "and": _logical("logical_and"),
    "or": _logical("logical_or"),
    "where": _where,
    **{name: _function(name) for name in ("sqrt", "exp", "log", "log2", "log10", "atan", *FUNCTIONS)},
}

__all__ = ["write_expression"]
