"""Plans for further lengths from equations with symbolic lengths.

A template of equations (kernels/shape_templates.py) is flattened once. The plan for some lengths takes over
what does not depend on lengths, and builds the NumPy functions of the other equations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from paddle_jax._core.base.caller_info import is_unrelated_error
from paddle_jax._core.base.symbolic_dims import SymbolicDim, filled_shape, node_numbers
from paddle_jax._core.kernels.dependence import holds_jaxpr
from paddle_jax._core.kernels.jaxpr_filling import Values, fill_of
from paddle_jax._core.kernels.jaxpr_tracing import Equations
from paddle_jax._core.kernels.shape_templates import FilledEquations, ShapeTemplate
from paddle_jax._core.numpy_backend import cost as costs
from paddle_jax._core.numpy_backend.blocks import Call
from paddle_jax._core.numpy_backend.flatten import Flat, flatten, read_only
from paddle_jax._core.numpy_backend.plan import HUGE, Plan, build_run, fold, plan, refuse_huge
from paddle_jax._core.numpy_backend.rules import OF_ANY_LENGTHS, ArrayType, Params, Refusal, Run

_NO_TEMPLATE = "none"


def plan_of(equations: Equations) -> Plan:
    """The Plan of Equations; raises Refusal as `plan` does."""
    if type(equations) is not FilledEquations:
        return plan(equations)
    template = equations.template
    if template.plans is None:
        template.plans = new_template(template) or _NO_TEMPLATE
    if template.plans is _NO_TEMPLATE:
        return plan(equations)
    return template.plans.plan_for(equations.numbers)


def new_template(equations: Equations | ShapeTemplate) -> PlanTemplate | None:
    """A template of the plans of equations with symbolic lengths; None where these have to be known."""
    try:
        return PlanTemplate(equations)
    except Exception as error:
        # A rule may raise anything for a length that is not an int.
        if is_unrelated_error(error):
            raise
        return None


class _ElementwiseCost(NamedTuple):
    """The cost of an equation that depends on the number of elements alone.

    Attributes:
        base: seconds whatever its size.
        of_element: seconds for each element.
        slots: list of (a slot, weight of its elements), one for each different type.
    """

    base: float
    of_element: float
    slots: list[tuple[int, float]]

    def of(self, avals: Sequence[ArrayType]) -> float:
        """Estimated seconds for the types of all slots."""
        largest = max([avals[slot].size * weight for slot, weight in self.slots])
        return self.base + self.of_element * largest


class _Equation(NamedTuple):
    """An equation whose call depends on lengths.

    Attributes:
        name: that of its primitive.
        params: its parameters.
        fills: list of (name, function that fills the numbers in) of the parameters with symbolic lengths.
        run: its function if that does not depend on lengths, else None.
        ins: slots of the operands.
        outs: slots of the results.
        is_multiple: bool, whether it gives a sequence of results.
        is_of_constants: bool, whether it depends on no operand.
        cost: _ElementwiseCost, or None for a cost of another kind.
    """

    name: str
    params: Params
    fills: list[tuple[str, Callable[[Any], Any]]]
    run: Run | None
    ins: Sequence[int]
    outs: Sequence[int]
    is_multiple: bool
    is_of_constants: bool
    cost: _ElementwiseCost | None


class PlanTemplate:
    """The plans of equations with symbolic lengths.

    Args:
        equations: the equations.
    Attributes:
        _equations: list of _Equation.
        _flat: Flat with what holds for all lengths. An aval is None where a length is symbolic.
        _shapes: dict from (shape, dtype) to its number; a symbolic length is the number of its value there.
        _slots: list of (slot, number of its shape) of the slots with symbolic lengths.
        _names: dict, the attribute of the plans.
        _compile_cost: float, that of the plans without the jaxprs in their equations.
    Raises:
        Refusal: an equation has no rule.
        NotGeneralError: a length has to be known.
    """

    __slots__ = ("_compile_cost", "_equations", "_flat", "_names", "_shapes", "_slots")

    def __init__(self, equations: Equations | ShapeTemplate) -> None:
        flat = flatten(equations, is_symbolic=True)
        if any(not isinstance(aval.dtype, np.dtype) for aval in flat.avals):
            raise Refusal("random keys")
        self._names: dict[str, int] = {}
        self._compile_cost = costs.COMPILE_BASE
        self._equations: list[_Equation] = []
        constants = {*flat.constants, *flat.lengths}  # slots whose values depend on no operand
        with np.errstate(all="ignore"):
            for equation in flat.equations:
                self._add(constants, *equation)
        self._flat = flat
        self._shapes: dict[Any, int] = {}
        self._slots: list[tuple[int, int]] = []
        for slot, aval in enumerate(flat.avals):
            if _is_symbolic(aval):
                shape = node_numbers(aval.shape)
                self._slots.append((slot, self._shapes.setdefault((shape, aval.dtype), len(self._shapes))))
                flat.avals[slot] = None
            else:
                flat.avals[slot] = ArrayType(aval.shape, aval.dtype)

    def _add(
        self,
        constants: set[int],
        primitive: Any,
        params: Params,
        ins: Sequence[int],
        outs: Sequence[int],
        in_avals: Sequence[Any],
        out_avals: Sequence[Any],
    ) -> None:
        """Adds an equation.

        Args:
            constants: the slots of constants, to which it adds.
            primitive, params, ins, outs, in_avals, out_avals: an entry of Flat.equations.
        """
        name = primitive.name
        is_of_constants = constants.issuperset(ins)
        if is_of_constants:
            constants.update(outs)
        fills = [(key, fill) for key, value in params.items() if (fill := fill_of(value)) is not None]
        run = None
        if not fills and (name in OF_ANY_LENGTHS or not any(map(_is_symbolic, (*in_avals, *out_avals)))):
            run = build_run(name, params, in_avals, out_avals)
        cost = None
        if name not in costs.SPECIAL and not any(map(holds_jaxpr, params.values())):
            pairs = zip((*ins, *outs), (*in_avals, *out_avals), strict=True)
            # Slots often share an aval.
            weights = {id(aval): (slot, costs.weight(aval.dtype)) for slot, aval in pairs}
            cost = _ElementwiseCost(*costs.elementwise_cost(name), list(weights.values()))
        self._names[name] = self._names.get(name, 0) + 1
        self._compile_cost += costs.compile_cost(name, None)
        multiple = primitive.multiple_results
        self._equations.append(
            _Equation(name, params, fills, run, ins, outs, multiple, is_of_constants, cost)
        )

    def plan_for(self, numbers: Values) -> Plan:
        """The Plan for the lengths whose numbers these are."""
        flat = self._flat_for(numbers)
        avals = flat.avals
        is_huge = max([aval.nbytes for aval in avals]) > HUGE
        cost = costs.CALL
        compile_cost = self._compile_cost
        calls = []
        with np.errstate(all="ignore"):
            for equation in self._equations:
                name, params, fills, run, ins, outs, is_multiple, is_of_constants, elementwise = equation
                in_avals = [avals[slot] for slot in ins]
                out_avals = [avals[slot] for slot in outs]
                if is_huge:
                    refuse_huge(name, out_avals)
                if fills:
                    params = {**params, **{key: fill(numbers) for key, fill in fills}}
                if run is None:
                    run = build_run(name, params, in_avals, out_avals)
                call = Call(run, ins, outs, is_multiple)
                if is_of_constants and fold(call, name, flat, out_avals):
                    continue
                calls.append(call)
                if elementwise is not None:
                    cost += elementwise.of(avals)
                else:
                    cost += costs.cost(name, params, in_avals, out_avals, run)
                    compile_cost += costs.inner_compile_cost(run)
        return Plan.of_calls(calls, flat, cost, compile_cost, self._names)

    def _flat_for(self, numbers: Values) -> Flat:
        """Operands, constants and results for some lengths."""
        types = [ArrayType(filled_shape(nodes, numbers), dtype) for nodes, dtype in self._shapes]
        flat = Flat()
        flat.arity = self._flat.arity
        flat.results = self._flat.results
        flat.avals = self._flat.avals.copy()
        for slot, number in self._slots:
            flat.avals[slot] = types[number]
        flat.constants = self._flat.constants.copy()
        for slot, length in self._flat.lengths.items():
            flat.constants[slot] = read_only(length.number(numbers), flat.avals[slot].dtype)
        return flat


def _is_symbolic(aval: Any) -> bool:
    """Whether an aval has a symbolic length."""
    return any(type(length) is SymbolicDim for length in aval.shape)
