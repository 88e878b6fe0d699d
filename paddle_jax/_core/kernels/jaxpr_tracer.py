"""JAX's trace of a function to equations, in fewer calls.

The equations are those of JAX's own trace; tests compare the two. There is one exception: if an array of an
inner trace, a loop's for example, is compared with one from outside, Python asks the latter first, so that
a < b becomes b > a. The shapes of common primitives come from result_types.py. The operators of arrays, which
`jax.numpy` sends through promotion and broadcasting by several functions, call the primitive directly if
there is nothing to promote. If this version of JAX keeps its traces in another way, or one of its checks of
traces is on, JAX's own trace is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax import lax
from jax._src import config, core, dtypes, source_info_util
from jax._src.interpreters import partial_eval
from jax._src.mesh import get_abstract_mesh

from paddle_jax._core.base.symbolic_dims import SymbolicDim
from paddle_jax._core.kernels.dependence import is_plain
from paddle_jax._core.kernels.result_types import RESULT_RULES

_FLOATS = frozenset(map(np.dtype, ("float32", "float64")))
_NUMBERS = _FLOATS | set(map(np.dtype, ("int32", "int64")))
_SCALARS = (int, float)


class Operand(partial_eval.DynamicJaxprTracer):
    """An array of a trace, with a shape, a dtype and a weak type only: on no mesh."""

    __slots__ = ()

    def astype(self, dtype: Any, *rest: Any, **options: Any) -> Any:
        """Itself where it has the dtype already."""
        if (
            not rest
            and not options
            and dtype is not None
            and dtype == self.aval.dtype  # pyright: ignore[reportAttributeAccessIssue]
            and not self.aval.weak_type  # pyright: ignore[reportAttributeAccessIssue]
        ):
            return self
        return super().__getattr__("astype")(dtype, *rest, **options)


def _fits_integers(number: Any) -> bool:
    """Whether a Python number is an integer that each integer dtype of the operators holds."""
    return type(number) is int and -(1 << 31) <= number < 1 << 31


def _number_beside(other: Any, dtype: np.dtype) -> Any:
    """A Python number or a length as a number of a dtype; None where JAX decides the dtype."""
    if type(other) is SymbolicDim:
        # Decided in the same way for the numbers that take its place.
        if dtype in _FLOATS or other.is_within(-(1 << 31), 1 << 31):
            return other.as_number(dtype)
        return None
    if type(other) in _SCALARS and (dtype in _FLOATS or _fits_integers(other)):
        return dtype.type(other)
    return None


def _operator(
    name: str, function: Callable[..., Any], accepted: frozenset[Any] | set[Any], swapped: bool = False
) -> None:
    """Declares an operator of two arrays of one shape and dtype, or of a floating one and a Python number.

    Args:
        name: name of the method.
        function: function of two arrays.
        accepted: dtypes for which it holds.
        swapped: whether the array is the second operand.
    """
    base = getattr(partial_eval.DynamicJaxprTracer, name)

    def method(self: Any, other: Any) -> Any:
        aval = self.aval
        # A weak type follows the other operand, which JAX decides.
        if aval.dtype in accepted and not aval.weak_type:
            if type(other) is Operand and other.aval is aval:
                return function(self, other)
            number = _number_beside(other, aval.dtype)
            if number is not None:
                if swapped:
                    return function(number, self)
                return function(self, number)
        # JAX's own operator does all the rest.
        return base(self, other)

    setattr(Operand, name, method)


for _name in ("add", "sub", "mul"):
    _operator(f"__{_name}__", getattr(lax, _name), _NUMBERS)
    _operator(f"__r{_name}__", getattr(lax, _name), _NUMBERS, swapped=True)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _operator(f"__{_name}__", getattr(lax, _name), _NUMBERS)
_operator("__truediv__", lax.div, _FLOATS)
_operator("__rtruediv__", lax.div, _FLOATS, swapped=True)


class Trace(partial_eval.DynamicJaxprTrace):
    """JAX's trace, with shapes of results from result_types.py."""

    __slots__ = ()

    def new_arg(self, aval: Any, source_info: Any) -> Any:
        if not is_plain(aval):
            return super().new_arg(aval, source_info)
        var = self.frame.newvar(aval)
        self.frame.invars.append(var)
        return Operand(self, aval, var, source_info)

    def var_to_tracer(self, var: Any, source_info: Any, parent: Any = None) -> Any:
        if is_plain(var.aval):
            return Operand(self, var.aval, var, source_info, parent)
        return super().var_to_tracer(var, source_info, parent)

    def process_primitive(self, primitive: Any, tracers: Sequence[Any], params: dict[str, Any], /) -> Any:
        rule = RESULT_RULES.get(primitive)
        if rule is None or not any(type(t) is Operand and t._trace is self for t in tracers):
            return super().process_primitive(primitive, tracers, params)
        source_info = source_info_util.current()
        operands = [
            t if type(t) is Operand and t._trace is self else self.to_jaxpr_tracer(t, source_info)
            for t in tracers
        ]
        if all(type(t) is Operand or is_plain(t.aval) for t in operands):
            aval = rule(params, *[t.aval for t in operands])
            if aval is not None:
                return self.emit_eqn(operands, [aval], primitive, params, core.no_effects, source_info)[0]
        return super().process_primitive(primitive, operands, params)


def trace(function: Callable[..., list[Any]], avals: Sequence[Any], debug_info: Any) -> tuple[Any, list[Any]]:
    """(jaxpr, constants) of a function that gives a list of arrays."""
    frame = Trace(debug_info, parent_trace=core.trace_ctx.trace)
    with source_info_util.reset_name_stack(), partial_eval.TracebackScope():
        source_info = source_info_util.current()
        operands = [frame.new_arg(aval, source_info) for aval in avals]
        with core.set_current_trace(frame):
            results = function(*operands)
        partial_eval._check_returned_jaxtypes(debug_info, results)
        results = [frame.to_jaxpr_tracer(dtypes.canonicalize_value(x), source_info) for x in results]
        jaxpr, consts = frame.frame.to_jaxpr(frame, results, debug_info, source_info)
        # A tracer that is used after the trace raises.
        frame.invalidate()
    return jaxpr, consts


def is_usable() -> bool:
    """Whether `trace` may take the place of JAX's own: no check of traces is on, and no mesh."""
    return (
        not config.enable_checks.value and not config.check_tracer_leaks.value and get_abstract_mesh().empty
    )
