"""Reverse accumulation over loops of known length (`scan`).

The equations of one step and of its gradient are traced together, and split. The forward loop runs those that
its results need, and keeps of each step the values that the others need. The backward loop runs the others.
Equations that are the same in every step run once, before the loops. Products and sums that only add up over
the steps, such as the gradient of a weight, run once after the backward loop, over stacks of their operands.
`jax.vjp` finds the same loops through the tangents of each equation. That takes some 20 ms for an LSTM; this
takes 6.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.core
from jax import lax

from paddle_jax._core.kernels.dependence import is_literal, open_jaxpr, propagate_masks
from paddle_jax._core.kernels.jaxpr_tracing import trace_context, trace_function
from paddle_jax._core.kernels.loop_template import scan_loop
from paddle_jax._core.kernels.reverse import (
    LINEARIZE_RULES,
    Linearized,
    Pull,
    is_inexact,
    linearize,
    zeros_if_none,
)

_MAX_STEPS = 128


class _Split(NamedTuple):
    """The equations of a step and its gradient, in three lists.

    Attributes:
        invariant: equations that are the same in every step.
        forward: the others that the results need.
        backward: the rest.
    """

    invariant: list[Any]
    forward: list[Any]
    backward: list[Any]


class _Step:
    """One step of a loop: the equations of the step and its gradient. Loops of all lengths share it.

    Attributes:
        body: the jaxpr of one step.
        const_count: int, number of operands that are the same in each step.
        carry_count: int, number of operands that a step passes to the next.
        active: list of bool, whether the gradient of an operand is needed.
        wanted: list of bool, whether a result has a cotangent.
        grad_operands: list of int, the operands whose cotangents the equations give, after the results.
        jaxpr: the equations; their inputs are `inputs`, then the cotangents `cts`.
        consts: the constants of the equations.
        results, grads: the variables of results and gradients.
        invariant_vars: list of the variables that are the same in every step.
        hoist: function from the values of `inputs[:const_count]` to those of `invariant_vars`.
        kept_vars: list of the variables whose values the backward loop gets from the forward loop.
        late_sums: dict from an operand to the equation of its gradient and the parameters with which that
            runs after the loop.
        late_vars: list of the variables of which the backward loop stacks the values for that.
        run_forward: function of (invariant values, carry, slices) -> results and kept values of one step.
        run_backward: function of (invariant values, cotangents, slices, kept values) -> gradients, without
            those of `late_sums`, and values of `late_vars`.
    """

    def __init__(
        self, body: Any, counts: tuple[int, int], active: Sequence[bool], wanted: Sequence[bool]
    ) -> None:
        self.body = body
        self.const_count, self.carry_count = counts
        self.active, self.wanted = _flows(body, counts, active, wanted)
        self.grad_operands: list[int] = []
        ct_avals = [v.aval for v, wants in zip(body.outvars, self.wanted, strict=True) if wants]
        avals = [*[v.aval for v in body.invars], *ct_avals]
        equations = trace_function(self._results_and_gradients, "scan_grad", avals)
        self.jaxpr = equations.jaxpr
        self.consts = equations.consts
        operand_count = len(body.invars)
        self.inputs = self.jaxpr.invars[:operand_count]
        self.cts = self.jaxpr.invars[operand_count:]
        self.results = self.jaxpr.outvars[: len(body.outvars)]
        self.grads = self.jaxpr.outvars[len(body.outvars) :]
        self._make_functions()

    def _make_functions(self) -> None:
        """The parts of the step as functions."""
        split = self.split()
        const_count = self.const_count
        first_slice = const_count + self.carry_count
        constant_vars = [*self.jaxpr.constvars, *self.inputs[:const_count]]
        hoisted_vars = [v for invariant in split.invariant for v in invariant.outvars]
        hoisted = self.function_of(split.invariant, constant_vars, hoisted_vars)

        def hoist(values: Sequence[Any]) -> list[Any]:
            # The constants of the trace are the same in every step, as the constant operands are.
            values = [*self.consts, *values]
            return [*values, *hoisted(*values)]

        self.hoist = hoist
        self.invariant_vars = [*constant_vars, *hoisted_vars]
        carry_vars = self.inputs[const_count:first_slice]
        slice_vars = self.inputs[first_slice:]
        available = {*self.invariant_vars, *slice_vars, *self.cts}
        self.late_sums = self._find_late_sums(split.backward)
        late = [equation for equation, _ in self.late_sums.values()]
        backward = [equation for equation in split.backward if not any(equation is each for each in late)]
        early_grads = [
            v for i, v in zip(self.grad_operands, self.grads, strict=True) if i not in self.late_sums
        ]
        late_operands = list(dict.fromkeys(v for equation in late for v in equation.invars))
        free_vars = _free_variables(backward, [*early_grads, *late_operands])
        self.kept_vars = [v for v in free_vars if v not in available]
        self.late_vars = [v for v in late_operands if v not in self.kept_vars and v not in slice_vars]
        forward_vars = [*self.invariant_vars, *carry_vars, *slice_vars]
        self.run_forward = self.function_of(split.forward, forward_vars, [*self.results, *self.kept_vars])
        backward_vars = [*self.invariant_vars, *self.cts, *slice_vars, *self.kept_vars]
        self.run_backward = self.function_of(backward, backward_vars, [*early_grads, *self.late_vars])

    def _find_late_sums(self, equations: Sequence[Any]) -> dict[int, tuple[Any, dict[str, Any]]]:
        """The gradients that can run after the loop: {operand: (equation, parameters)}."""
        equation_of = {v: equation for equation in equations for v in equation.outvars}
        read = {v for equation in equations for v in equation.invars if not is_literal(v)}
        late = {}
        for i, v in zip(self.grad_operands, self.grads, strict=True):
            equation = equation_of.get(v)
            # Only constants have gradients that add up. A gradient that another equation reads is needed in
            # the loop.
            if i >= self.const_count or equation is None or v in read or self.grads.count(v) > 1:
                continue
            # An operand that is the same in every step has no stack to sum over.
            if any(is_literal(x) or x in self.invariant_vars for x in equation.invars):
                continue
            params = _over_all_steps(equation)
            if params is not None:
                late[i] = equation, params
        return late

    def _results_and_gradients(self, *values: Any) -> list[Any]:
        """The results of a step, and the cotangents of its operands."""
        operand_count = len(self.body.invars)
        operands = values[:operand_count]
        cts = iter(values[operand_count:])
        results, pull = linearize(self.body, (), operands, self.active, self.wanted)
        grads = pull([next(cts) if wants else None for wants in self.wanted])
        self.grad_operands = [i for i, ct in enumerate(grads) if ct is not None and self.active[i]]
        return [*results, *[grads[i] for i in self.grad_operands]]

    def function_of(
        self, equations: Sequence[Any], invars: Sequence[Any], outvars: Sequence[Any]
    ) -> Callable[..., list[Any]]:
        """A function that runs some of the equations."""
        part = self.jaxpr.replace(
            constvars=[],
            invars=invars,
            outvars=outvars,
            eqns=equations,
            debug_info=self.jaxpr.debug_info._replace(arg_names=None, result_paths=None),
        )
        return lambda *operands: jax.core.eval_jaxpr(part, (), *operands)

    def split(self) -> _Split:
        """The equations that are needed, split."""
        needed_by_results = _needed(self.jaxpr.eqns, self.results)
        needed = _needed(self.jaxpr.eqns, self.jaxpr.outvars)
        invariant_vars = {*self.jaxpr.constvars, *self.inputs[: self.const_count]}
        split = _Split([], [], [])
        for equation in self.jaxpr.eqns:
            if needed.isdisjoint(equation.outvars):
                continue
            if all(is_literal(v) or v in invariant_vars for v in equation.invars):
                # What does not change with the step moves out of the loop.
                split.invariant.append(equation)
                invariant_vars.update(equation.outvars)
            elif needed_by_results.isdisjoint(equation.outvars):
                # Only the gradients read it.
                split.backward.append(equation)
            else:
                split.forward.append(equation)
        return split


def _over_all_steps(equation: Any) -> dict[str, Any] | None:
    """The parameters of an equation that sums over the steps as well: their axis is the first of its
    operands. None if its results for all steps cannot be summed so."""
    params = equation.params
    if equation.primitive.name == "reduce_sum":
        return params | {"axes": (0, *[axis + 1 for axis in params["axes"]])}
    if equation.primitive.name == "dot_general":
        (left, right), (left_batch, _) = params["dimension_numbers"]
        # Axes shift by one behind that of the steps, which is contracted with the others.
        if not left_batch:
            contracted = (0, *[axis + 1 for axis in left]), (0, *[axis + 1 for axis in right])
            return params | {"dimension_numbers": (contracted, ((), ()))}
    return None


def _flows(
    body: Any, counts: tuple[int, int], active: Sequence[bool], wanted: Sequence[bool]
) -> tuple[list[bool], list[bool]]:
    """(active, wanted) of operands and results of a body: those of the loop, and those through the carry."""
    const_count, carry_count = counts
    active = list(active)
    wanted = list(wanted)
    masks = propagate_masks(body, [1 << i for i in range(len(body.invars))])
    # What a step passes on may depend on another part of the carry, so each round can reach one part more.
    for _ in range(carry_count):
        active_mask = sum(1 << i for i, is_active in enumerate(active) if is_active)
        wanted_mask = 0
        for mask, wants in zip(masks, wanted, strict=True):
            wanted_mask |= mask if wants else 0
        for k in range(carry_count):
            if is_inexact(body.invars[const_count + k].aval):
                active[const_count + k] |= bool(masks[k] & active_mask)
                wanted[k] |= bool(wanted_mask >> (const_count + k) & 1)
    for k in range(carry_count):
        # A cotangent flows round the loop only where it comes from a result and leads to an operand.
        is_both = active[const_count + k] and wanted[k]
        active[const_count + k] = is_both
        wanted[k] = is_both
    return active, wanted


def _needed(equations: Sequence[Any], outvars: Sequence[Any]) -> set[Any]:
    """The variables that some variables depend on, and these themselves."""
    needed = {v for v in outvars if not is_literal(v)}
    # Backwards: an equation is needed if one is that comes later.
    for equation in reversed(equations):
        if not needed.isdisjoint(equation.outvars):
            needed.update(v for v in equation.invars if not is_literal(v))
    return needed


def _free_variables(equations: Sequence[Any], outvars: Sequence[Any]) -> list[Any]:
    """The variables that equations take from elsewhere, in a fixed order."""
    defined = {v for equation in equations for v in equation.outvars}
    read = [v for equation in equations for v in equation.invars] + list(outvars)
    # A dict keeps the order; that of a set may differ from process to process.
    unique = dict.fromkeys(v for v in read if not is_literal(v))
    return [v for v in unique if v not in defined]


def _linearize_scan(
    equation: Any, operands: Sequence[Any], active: Sequence[bool], wanted: Sequence[bool]
) -> Linearized | None:
    """(results, pull) of a scan; None to leave it to JAX."""
    params = equation.params
    body, consts = open_jaxpr(params["jaxpr"])
    # Effects must not happen twice, and `_split_transpose` asks JAX for a transpose of its own kind.
    if consts or body.effects or params.get("_split_transpose"):
        return None
    counts = _counts(params)
    const_count, carry_count = counts
    first_slice = const_count + carry_count
    step = _step_of(body, counts, tuple(active), tuple(wanted), trace_context())
    invariant_values = step.hoist(operands[:const_count])

    def forward(consts: Sequence[Any], carry: Sequence[Any], slices: Sequence[Any]) -> tuple[Any, Any]:
        outs = step.run_forward(*consts, *carry, *slices)
        return outs[:carry_count], outs[carry_count:]

    carry = list(operands[const_count:first_slice])
    slices = list(operands[first_slice:])
    options = {"length": params["length"], "unroll": params["unroll"]}
    last_carry, stacks = scan_loop(
        (step, "forward"), forward, (invariant_values, carry, slices), reverse=params["reverse"], **options
    )
    stack_count = len(step.results) - carry_count
    # Gradients go through the steps from the last one to the first.
    options["reverse"] = not params["reverse"]
    pull = _pull_of(step, invariant_values, operands, stacks[stack_count:], options)
    return [*last_carry, *stacks[:stack_count]], pull


@ft.lru_cache(maxsize=_MAX_STEPS)
def _step_of(
    body: Any, counts: tuple[int, int], active: tuple[bool, ...], wanted: tuple[bool, ...], context: Any
) -> _Step:
    """The step of a loop. Bodies that `scan_loop` traced are the same for all lengths, and compare by
    identity. `context` has JAX's settings."""
    return _Step(body, counts, active, wanted)


def _pull_of(
    step: _Step,
    invariant_values: Sequence[Any],
    operands: Sequence[Any],
    kept: Sequence[Any],
    options: dict[str, Any],
) -> Pull:
    """The function from the cotangents of a loop's results to those of its operands.

    Args:
        step: the step.
        invariant_values: values that are the same in every step.
        operands: operands of the loop.
        kept: values of the forward loop, stacked.
        options: options of the backward loop.
    """
    const_count = step.const_count
    carry_count = step.carry_count
    first_slice = const_count + carry_count
    out_avals = [v.aval for v in step.body.outvars]
    carries = [k for k in range(carry_count) if step.wanted[k]]
    stacks = [k for k in range(carry_count, len(out_avals)) if step.wanted[k]]
    early_operands = [i for i in step.grad_operands if i not in step.late_sums]
    grad_index = {operand: index for index, operand in enumerate(early_operands)}
    # Gradients of constants add up over the steps.
    summed = [i for i in early_operands if i < const_count]
    stacked = [i for i in step.grad_operands if i >= first_slice]

    def pull(cts: Sequence[Any]) -> list[Any]:
        carry_cts = [zeros_if_none(cts[k], out_avals[k]) for k in carries]
        stack_cts = [_stack_of_zeros_if_none(cts[k], out_avals[k], options["length"]) for k in stacks]
        sums = [zeros_if_none(None, step.body.invars[i].aval) for i in summed]

        def backward(consts: Sequence[Any], state: Sequence[Any], items: Sequence[Any]) -> tuple[Any, Any]:
            carry_cts = state[: len(carries)]
            sums = state[len(carries) :]
            stack_cts = items[: len(stacks)]
            grads = step.run_backward(*consts, *carry_cts, *stack_cts, *items[len(stacks) :])
            carry_cts = [
                grads[grad_index[const_count + k]]
                if const_count + k in grad_index
                else zeros_if_none(None, out_avals[k])
                for k in carries
            ]
            sums = [lax.add(total, grads[grad_index[i]]) for total, i in zip(sums, summed, strict=True)]
            late_values = grads[len(early_operands) :]
            return [*carry_cts, *sums], [*[grads[grad_index[i]] for i in stacked], *late_values]

        items = [*stack_cts, *operands[first_slice:], *kept]
        last, outputs = scan_loop(
            (step, "backward"), backward, (invariant_values, [*carry_cts, *sums], items), **options
        )
        operand_indices = [*[const_count + k for k in carries], *summed, *stacked]
        grad_of = dict(zip(operand_indices, [*last, *outputs[: len(stacked)]], strict=True))
        stack_of = dict(zip(step.inputs[first_slice:], operands[first_slice:], strict=True))
        stack_of.update(zip(step.kept_vars, kept, strict=True))
        stack_of.update(zip(step.late_vars, outputs[len(stacked) :], strict=True))
        # One sum over all steps in place of one in each.
        for i, (equation, params) in step.late_sums.items():
            values = [stack_of[v] for v in equation.invars]
            grad_of[i] = equation.primitive.bind(*values, **params)
        return [grad_of.get(i) for i in range(len(operands))]

    return pull


def _stack_of_zeros_if_none(ct: Any, aval: Any, length: int) -> Any:
    if ct is None:
        return lax.full((length, *aval.shape), 0, aval.dtype)
    return ct


def _counts(params: dict[str, Any]) -> tuple[int, int]:
    """(number of operands that are the same in each step, number of those in the carry) of a scan.

    JAX 0.12 has trees with a leaf for each operand in place of the numbers.
    """
    if "ft_in" not in params:
        return params["num_consts"], params["num_carry"]
    const_count, carry_count, _ = map(len, params["ft_in"].unpack())
    return const_count, carry_count


LINEARIZE_RULES["scan"] = _linearize_scan
