"""Loops that run once for an operation and its gradient.

The gradient of a recurrent layer computes the loop of its forward pass again. Where a segment has both, the
forward pass can keep what the gradient needs. That takes another trace, so it is for segments that come
again, and for operations whose lengths change: their equations come from templates.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.caller_info import is_unrelated_error
from paddle_jax._core.kernels.dependence import has_loop, is_literal
from paddle_jax._core.kernels.jaxpr_tracing import Equations
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.kernels.kernel_gradients import results_and_gradients
from paddle_jax._core.kernels.shape_templates import FilledEquations, ShapeTemplate
from paddle_jax._core.numpy_backend import Plan, PlanTemplate, Refusal, new_template, plan

if TYPE_CHECKING:
    from paddle_jax._core.lazy.segment import OpSignature

Part = Callable[[Sequence[np.ndarray]], list[np.ndarray]]  # from operands to results


def loops_with_gradient(ops: Sequence[tuple[Any, ...]], needed: Sequence[int]) -> dict[int, int]:
    """Operations that contain a loop, with the operations that are their gradients.

    Args:
        ops: the recorded operations.
        needed: positions of those that run, in order.
    """
    index_of_call = {(ops[i][0].kernel, ops[i][1:]): i for i in needed}
    loops: dict[int, int] = {}
    gradients = set()
    for j in needed:
        derivation = ops[j][0].kernel.derived_from
        if derivation is None:
            continue
        i = index_of_call.get((derivation.kernel, ops[j][1 : 1 + derivation.operand_count]))
        if i is None or i in loops or i in gradients or not has_loop(ops[i][0].equations.structure):
            continue
        loops[i] = j
        gradients.add(j)
    return loops


def interpreted_parts(
    ops: Sequence[tuple[Any, ...]], order: Sequence[tuple[int, Any]], is_recurring: bool
) -> dict[int, Part]:
    """The functions that interpret the loops of a segment and their gradients, by position.

    They are for one run of the segment: the function of a loop keeps values for that of its gradient.

    Args:
        ops: the recorded operations.
        order: those that run, as `needed_ops` gives them.
        is_recurring: whether the segment has come before.
    """
    parts: dict[int, Part] = {}
    is_candidate = _is_interpreted_loop if is_recurring else _is_loop_of_template
    if not any(is_candidate(ops[i][0]) for i, _ in order):
        return parts
    for i, j in loops_with_gradient(ops, [i for i, _ in order]).items():
        if not is_recurring and not (is_candidate(ops[i][0]) and is_candidate(ops[j][0])):
            continue
        plans = _plans_of(ops[i][0], ops[j][0])
        if plans is not None:
            pair = _Run(plans, ops[i][0], ops[j][0])
            parts[i] = pair.run_loop
            parts[j] = pair.run_gradient
    return parts


def _is_interpreted_loop(signature: OpSignature) -> bool:
    """Whether an operation has run in the interpreter, and contains a loop."""
    state = signature.tier_state
    return state is not None and state.plan is not None and "scan" in state.plan.names


def _is_loop_of_template(signature: OpSignature) -> bool:
    """Whether the equations of an operation come from a template, and contain a loop."""
    equations = signature.equations
    return type(equations) is FilledEquations and equations.template.has_loop


class _Plans:
    """The plans of a loop and its gradient.

    Attributes:
        loop: Plan from the operands to the results, and the values that are kept.
        gradient: Plan from operands, cotangents and kept values to the gradients.
        result_count: int, number of the results of the loop.
        has_failed: bool, whether one of them raised an error. Then both operations run on their own.
    """

    def __init__(self, loop: OpSignature, gradient: OpSignature) -> None:
        joint = _joint_kernel(gradient.kernel).trace(gradient.operand_avals)
        operand_count = len(loop.operand_avals)
        self.result_count = 1 if loop.container is None else len(loop.out_avals)
        counts = operand_count, self.result_count
        plans = _plans_from_templates(joint, *counts) or map(plan, _split(joint, *counts))
        self.loop: Plan
        self.gradient: Plan
        self.loop, self.gradient = plans
        self.has_failed = False


@ft.lru_cache(maxsize=64)
def _plans_of(loop: OpSignature, gradient: OpSignature) -> _Plans | None:
    """The _Plans of a pair of operations; None where NumPy has no rule for them."""
    try:
        return _Plans(loop, gradient)
    except Refusal:
        return None


@ft.lru_cache(maxsize=64)
def _joint_kernel(gradient: Kernel) -> Kernel:
    """The kernel `(operands..., cotangents...) -> (results..., gradients...)` of a gradient."""
    derivation: Any = gradient.derived_from
    kernel, argnums, has_cotangent, count = derivation

    def joint(*values: Any) -> list[Any]:
        equations = kernel.equations_for(values[:count])
        results, gradients = results_and_gradients(
            equations, argnums, has_cotangent, values[:count], values[count:]
        )
        return [*results, *gradients]

    made = Kernel(gradient.name, joint, product_precision=gradient.product_precision)
    made.has_templates = gradient.has_templates
    return made


def _plans_from_templates(joint: Equations, operand_count: int, result_count: int) -> list[Plan] | None:
    """The plans of a loop and its gradient where templates give them."""
    if type(joint) is not FilledEquations:
        return None
    templates = _templates_of(joint.template, operand_count, result_count)
    plans = [template.plan_for(joint.numbers) for template in templates if template is not None]
    return plans if len(plans) == len(templates) else None


@ft.lru_cache(maxsize=64)
def _templates_of(joint: ShapeTemplate, operand_count: int, result_count: int) -> list[PlanTemplate | None]:
    """The templates of the plans of a loop and its gradient."""
    return [new_template(part) for part in _split(joint, operand_count, result_count)]


def _split(
    joint: Equations | ShapeTemplate, operand_count: int, result_count: int
) -> tuple[Equations, Equations]:
    """The equations that do not depend on cotangents, and those that do.

    The first give the results and the values that the second read.
    """
    jaxpr = joint.jaxpr
    later = set(jaxpr.invars[operand_count:])  # depend on cotangents
    forward = []
    backward = []
    for equation in jaxpr.eqns:
        if any(not is_literal(v) and v in later for v in equation.invars):
            backward.append(equation)
            later.update(equation.outvars)
        else:
            forward.append(equation)
    results = jaxpr.outvars[:result_count]
    gradients = jaxpr.outvars[result_count:]
    read = [v for equation in backward for v in equation.invars] + list(gradients)
    given = {v for equation in forward for v in equation.outvars}
    kept = list(dict.fromkeys(v for v in read if not is_literal(v) and v in given))
    operands = jaxpr.invars[:operand_count]
    return (
        _some_equations(joint, operands, [*results, *kept], forward),
        _some_equations(joint, [*jaxpr.invars, *kept], gradients, backward),
    )


def _some_equations(
    joint: Equations | ShapeTemplate, invars: Sequence[Any], outvars: Sequence[Any], equations: Sequence[Any]
) -> Equations:
    jaxpr = joint.jaxpr.replace(
        invars=list(invars),
        outvars=list(outvars),
        eqns=list(equations),
        debug_info=joint.jaxpr.debug_info._replace(arg_names=None, result_paths=None),
    )
    return Equations(jaxpr, joint.consts, list, joint.context)


class _Run:
    """One run of a loop and its gradient.

    Attributes:
        plans: _Plans of the two.
        loop, gradient: their OpSignatures.
        kept: list of arrays from the loop; None before it, after the gradient, and where it failed.
    """

    def __init__(self, plans: _Plans, loop: OpSignature, gradient: OpSignature) -> None:
        self.plans = plans
        self.loop = loop
        self.gradient = gradient
        self.kept: list[np.ndarray] | None = None

    def run_loop(self, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results of the loop; keeps what the gradient needs."""
        results = self._interpret(self.plans.loop, operands)
        if results is None:
            return self.loop.tier_state.plan.quietly(operands)
        count = self.plans.result_count
        self.kept = results[count:]
        return results[:count]

    def run_gradient(self, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The gradients, from what the loop has kept if it ran here."""
        kept = self.kept
        self.kept = None
        results = None
        if kept is not None:
            results = self._interpret(self.plans.gradient, [*operands, *kept])
        if results is None:
            return self.gradient.tier_state.plan.quietly(operands)
        return results

    def _interpret(self, part: Plan, operands: Sequence[np.ndarray]) -> list[np.ndarray] | None:
        if self.plans.has_failed:
            return None
        try:
            return part.quietly(operands)
        except Exception as error:
            # what is kept takes memory, which the operations alone may do without
            if is_unrelated_error(error) and not isinstance(error, MemoryError):
                raise
            self.plans.has_failed = True
            return None
