"""Equations with symbolic lengths, prepared so that numbers can be filled in quickly.

What holds no symbolic length is shared by all copies. A function with a derivative of its own is not shared.
JAX keeps its rule as a function, which may hold lengths. A copy takes the rule of a trace for its lengths,
and makes that trace only if somebody asks for the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from jax._src import core, linear_util  # jax.extend takes 0.05 s to import
from jax._src.core import (
    DropVar,  # a result that nothing reads
    Jaxpr,
    Literal,
    Var,
)
from jax.core import ShapedArray

from paddle_jax._core.base.symbolic_dims import LengthNumber, SymbolicDim, length_p

ClosedJaxpr: Any = getattr(core, "ClosedJaxpr", Jaxpr)  # in JAX 0.12 each Jaxpr has its constants
_RULE = "jvp_jaxpr_fun"  # the parameter of an equation that has the rule of its derivative


class DerivativeRules:
    """The rules of derivatives in the equations of a template, for some lengths.

    Attributes:
        numbers: dict from the id of a rule in the template to its index.
        trace: function that traces the kernel for these lengths; it gives a jaxpr.
    """

    __slots__ = ("_rules", "numbers", "trace")

    def __init__(self, numbers: dict[int, int], trace: Callable[[], Any]) -> None:
        self.numbers: dict[int, int] = numbers
        self.trace: Callable[[], Any] = trace
        self._rules: list[Any] | None = None

    def for_lengths(self, rule: Any) -> Any:
        """The rule that has the place of a rule of the template."""
        return linear_util.wrap_init(_RuleOfTrace(self, self.numbers[id(rule)]), debug_info=rule.debug_info)

    def traced(self, index: int) -> Any:
        """The rule with this index in the trace."""
        if self._rules is None:
            self._rules = [*derivative_rules(self.trace())]
        return self._rules[index]


class _RuleOfTrace:
    """A rule that is taken from a trace when it is called."""

    __slots__ = ("_index", "_rules")

    def __init__(self, rules: DerivativeRules, index: int) -> None:
        self._rules = rules
        self._index = index

    def __call__(self, *is_zero: bool) -> Any:
        return self._rules.traced(self._index).call_wrapped(*is_zero)


class Values(list[int]):
    """The numbers of all nodes of an environment.

    Attributes:
        rules: DerivativeRules for these lengths.
    """

    __slots__ = ("rules",)

    def __init__(self, numbers: Sequence[int], rules: DerivativeRules) -> None:
        super().__init__(numbers)
        self.rules: DerivativeRules = rules


Fill = Callable[[Values], Any]


def derivative_rules(jaxpr: Any) -> Iterator[Any]:
    """The rules of derivatives in a jaxpr, in the order of its equations, inner ones included."""
    for equation in jaxpr.eqns:
        for name, value in equation.params.items():
            if name == _RULE:
                yield value
            else:
                yield from _rules_of_value(value)


def _rules_of_value(x: Any) -> Iterator[Any]:
    if isinstance(x, ClosedJaxpr):
        yield from derivative_rules(x.jaxpr)
    elif isinstance(x, Jaxpr):
        yield from derivative_rules(x)
    elif isinstance(x, tuple | list):
        for item in x:
            yield from _rules_of_value(item)


def with_literal_numbers(jaxpr: Any) -> Any:
    """A jaxpr in which numbers computed from lengths are literals, as they are in the trace for known
    lengths."""
    numbers: dict[Any, Any] = {}
    equations = []
    for equation in jaxpr.eqns:
        number = _number_of(equation, numbers)
        if number is not None:
            result = equation.outvars[0]
            numbers[result] = Literal(number, result.aval)
        elif any(type(v) is not Literal and v in numbers for v in equation.invars):
            invars = [v if type(v) is Literal else numbers.get(v, v) for v in equation.invars]
            equations.append(equation.replace(invars=invars))
        else:
            equations.append(equation)
    if not numbers:
        return jaxpr
    outvars = [v if type(v) is Literal else numbers.get(v, v) for v in jaxpr.outvars]
    return jaxpr.replace(eqns=equations, outvars=outvars)


def _number_of(equation: Any, numbers: dict[Any, Any]) -> LengthNumber | None:
    """The number that an equation gives for lengths, or None."""
    if equation.primitive is length_p:
        length = equation.params["length"]
        return LengthNumber(lambda values: values[length.node], length.dimension_as_value)
    if equation.primitive.name != "convert_element_type":
        return None
    operand = equation.invars[0]
    if type(operand) is Literal or operand not in numbers:
        return None
    source = numbers[operand].val
    convert = equation.outvars[0].aval.dtype.type
    return LengthNumber(
        lambda values: convert(source.number(values)),
        lambda: equation.primitive.bind(source.bind(), **equation.params),
    )


def fill_of(x: Any) -> Fill | None:
    """The function that fills in the numbers in a parameter; None if it holds no symbolic length."""
    if type(x) is SymbolicDim:
        node = x.node
        return lambda values: values[node]
    if isinstance(x, tuple | list):
        return _fill_of_items(x)
    if isinstance(x, slice):
        parts = _fill_of_items((x.start, x.stop, x.step))
        # A slice without lengths stays as it is.
        return parts and (lambda values: slice(*parts(values)))
    if isinstance(x, ShapedArray):
        return _fill_of_aval(x)
    if isinstance(x, ClosedJaxpr):
        return _fill_of_closed(x)
    if isinstance(x, Jaxpr):
        return fill_of_jaxpr(x)
    return None


def _fill_of_param(name: str, value: Any) -> Fill | None:
    if name == _RULE:
        return lambda values: values.rules.for_lengths(value)
    return fill_of(value)


def _fill_of_items(items: Any) -> Fill | None:
    fills = [(i, fill) for i, fill in enumerate(map(fill_of, items)) if fill is not None]
    if not fills:
        return None
    kind = type(items)
    make = getattr(kind, "_make", kind)  # that of a namedtuple

    def fill(values: Values) -> Any:
        parts = list(items)
        for i, fill_item in fills:
            parts[i] = fill_item(values)
        return make(parts)

    return fill


def _fill_of_aval(aval: ShapedArray) -> Fill | None:
    fill_shape = _fill_of_items(aval.shape)
    if fill_shape is None:
        return None
    dtype = aval.dtype
    weak = aval.weak_type
    return lambda values: ShapedArray(fill_shape(values), dtype, weak)


def _fill_of_closed(closed: Any) -> Fill | None:
    fill_jaxpr = fill_of_jaxpr(closed.jaxpr)
    if fill_jaxpr is None:
        return None
    return lambda values: ClosedJaxpr(fill_jaxpr(values), closed.consts)


def fill_of_jaxpr(jaxpr: Any) -> Fill | None:
    """The function that gives a jaxpr with the numbers filled in; None if it holds no symbolic length."""
    filling = JaxprFilling(jaxpr)
    if filling.is_static():
        return None
    return filling.fill


class JaxprFilling:
    """How to fill the numbers into one jaxpr.

    Attributes:
        jaxpr: the jaxpr with symbolic lengths. Numbers computed from them are literals.
    """

    def __init__(self, jaxpr: Any) -> None:
        jaxpr = with_literal_numbers(jaxpr)
        self.jaxpr: Any = jaxpr
        self._fills: list[Fill] = []  # of the different avals with a symbolic length
        self._fill_numbers: dict[int, int | None] = {}  # id of an aval -> index in `_fills`
        self._variables: list[tuple[Any, int]] = []  # (variable, index of its aval)
        self._changed: set[Any] = set()  # variables that a copy replaces
        for v in (*jaxpr.constvars, *jaxpr.invars):
            self._add_variable(v)
        self._steps = [self._step(equation) for equation in jaxpr.eqns]

    def is_static(self) -> bool:
        """Whether no symbolic length occurs."""
        return not self._changed and all(step[1] is None for step in self._steps)

    def _add_variable(self, v: Any) -> None:
        # Variables share avals, and so the functions that fill them.
        key = id(v.aval)
        if key not in self._fill_numbers:
            fill = fill_of(v.aval)
            self._fill_numbers[key] = None if fill is None else len(self._fills)
            if fill is not None:
                self._fills.append(fill)
        number = self._fill_numbers[key]
        if number is not None:
            self._variables.append((v, number))
            self._changed.add(v)

    def _step(self, equation: Any) -> tuple[Any, Any]:
        """(equation, how to fill it): None to take it as it is, else (operands that change, results that
        change, parameters that change)."""
        for v in equation.outvars:
            self._add_variable(v)
        params = [(name, _fill_of_param(name, value)) for name, value in equation.params.items()]
        params = [(name, fill) for name, fill in params if fill is not None]
        ins = [i for i, v in enumerate(equation.invars) if self._changes(v)]
        outs = [i for i, v in enumerate(equation.outvars) if v in self._changed]
        if not ins and not outs and not params:
            return equation, None
        return equation, (ins, outs, params)

    def _changes(self, v: Any) -> bool:
        """Whether an operand is another one in a copy."""
        if type(v) is Literal:
            return type(v.val) is LengthNumber
        return v in self._changed

    def fill(self, values: Values) -> Any:
        """A copy with the numbers of these values."""
        avals = [fill(values) for fill in self._fills]
        env: dict[Any, Any] = {}
        for v, number in self._variables:
            env[v] = (DropVar if type(v) is DropVar else Var)(avals[number])
        equations = []
        for equation, how in self._steps:
            if how is None:
                equations.append(equation)
            else:
                equations.append(_filled_equation(env, equation, how, values))
        jaxpr = self.jaxpr
        # In JAX 0.12 the constants belong to the jaxpr, and new variables for them need them again.
        constants = {"consts": jaxpr.consts} if hasattr(jaxpr, "consts") else {}
        return jaxpr.replace(
            constvars=[env.get(v, v) for v in jaxpr.constvars],
            invars=[env.get(v, v) for v in jaxpr.invars],
            outvars=[_filled_atom(env, v, values) for v in jaxpr.outvars],
            eqns=equations,
            **constants,
        )


def _filled_atom(env: dict[Any, Any], v: Any, values: Values) -> Any:
    if type(v) is not Literal:
        return env.get(v, v)
    if type(v.val) is LengthNumber:
        return Literal(v.val.number(values), v.aval)
    return v


def _filled_equation(env: dict[Any, Any], equation: Any, how: Any, values: Values) -> Any:
    ins, outs, fills = how
    invars = equation.invars
    if ins:
        invars = list(invars)
        for i in ins:
            invars[i] = _filled_atom(env, invars[i], values)
    outvars = equation.outvars
    if outs:
        outvars = list(outvars)
        for i in outs:
            outvars[i] = env[outvars[i]]
    params = equation.params
    if fills:
        params = dict(params)
        for name, fill in fills:
            params[name] = fill(values)
    return equation.replace(invars=invars, outvars=outvars, params=params)


def same_jaxprs(a: Any, b: Any) -> bool:
    """Whether two jaxprs are the same but for the names of variables."""
    names: dict[Any, Any] = {}
    if len(a.eqns) != len(b.eqns):
        return False
    if not _same_variables(names, (*a.constvars, *a.invars), (*b.constvars, *b.invars)):
        return False
    for x, y in zip(a.eqns, b.eqns, strict=True):
        same = (
            x.primitive is y.primitive
            and x.effects == y.effects
            and x.ctx is y.ctx
            and _same_atoms(names, x.invars, y.invars)
            and _same_params(x.params, y.params)
            and _same_variables(names, x.outvars, y.outvars)
        )
        if not same:
            return False
    return _same_atoms(names, a.outvars, b.outvars)


def _same_variables(names: dict[Any, Any], a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether new variables have the same types; notes which correspond."""
    if len(a) != len(b):
        return False
    names.update(zip(a, b, strict=True))
    return all(_same_avals(v.aval, w.aval) for v, w in zip(a, b, strict=True))


def _same_atoms(names: dict[Any, Any], a: Sequence[Any], b: Sequence[Any]) -> bool:
    if len(a) != len(b):
        return False
    for v, w in zip(a, b, strict=True):
        if type(v) is not Literal:
            if type(w) is Literal or names[v] is not w:
                return False
        elif type(w) is not Literal or not _same_avals(v.aval, w.aval) or not _same_arrays(v.val, w.val):
            return False
    return True


def _same_avals(a: Any, b: Any) -> bool:
    return a is b or (
        a.dtype == b.dtype
        and a.weak_type == b.weak_type
        and tuple(a.shape) == tuple(b.shape)
        # Symbolic lengths would compare as expressions.
        and all(type(length) is int for length in (*a.shape, *b.shape))
    )


def _same_arrays(a: Any, b: Any) -> bool:
    """Whether two literals or constants are equal, bit by bit."""
    if a is b:
        return True
    x = np.asarray(a)
    y = np.asarray(b)
    # By bytes, since NaN is not equal to itself.
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def _same_params(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(
        _same_values(a[name], b[name]) or (name == _RULE and _is_of_trace(a[name])) for name in a
    )


def _is_of_trace(rule: Any) -> bool:
    """Whether a rule comes from a trace for its lengths, so that it is the right one."""
    return type(rule.f) is _RuleOfTrace


def _same_values(a: Any, b: Any) -> bool:
    """Whether two parameters are equal.

    Functions are equal if they are the same object. So a function that was made during a trace differs,
    because a symbolic length may be in it.
    """
    if a is b:
        return True
    if isinstance(a, ClosedJaxpr):
        return (
            isinstance(b, ClosedJaxpr)
            and len(a.consts) == len(b.consts)
            and all(map(_same_arrays, a.consts, b.consts))
            and same_jaxprs(a.jaxpr, b.jaxpr)
        )
    if isinstance(a, Jaxpr):
        return isinstance(b, Jaxpr) and same_jaxprs(a, b)
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_same_values(a[k], b[k]) for k in a)
    if isinstance(a, tuple | list):
        return isinstance(b, tuple | list) and len(a) == len(b) and all(map(_same_values, a, b))
    return bool(a == b)
