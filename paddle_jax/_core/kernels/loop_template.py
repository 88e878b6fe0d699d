"""Loops that are traced once for all lengths.

The equations of one step do not depend on the number of steps. `lax.scan` traces them for each loop, which
takes milliseconds where each batch of a program has another length. Here the equation of a loop is kept, and
bound again with another length. Equal steps are then one object, so that what is derived from them is kept as
well: gradients (scan_gradients.py) and plans (numpy_backend/control_flow.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import jax
from jax import lax
from jax._src.config import trace_context

from paddle_jax._core.base.symbolic_dims import SymbolicDim
from paddle_jax._core.kernels.dependence import is_literal, is_plain
from paddle_jax._core.kernels.jaxpr_tracing import trace_function

Step = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], tuple[Sequence[Any], Sequence[Any]]]
_MAX_TEMPLATES = 256


class _Template(NamedTuple):
    """The equation of a loop.

    Attributes:
        primitive: that of `lax.scan`.
        params: its parameters, for some length.
        operands: for each operand of the equation its number among constants, carry and slices.
        results: for each result of the loop its number among those of the equation.
    """

    primitive: Any
    params: dict[str, Any]
    operands: list[int]
    results: list[int]


class _Cache:
    """The templates of the process.

    Attributes:
        templates: dict from a key to a _Template; to None where the loop is not one equation.
    """

    templates: dict[Any, _Template | None] = {}  # noqa: RUF012  one for the process


def scan_loop(
    key: Hashable,
    step: Step,
    operands: tuple[Sequence[Any], Sequence[Any], Sequence[Any]],
    length: int,
    reverse: bool = False,
    unroll: int = 1,
) -> tuple[list[Any], list[Any]]:
    """`lax.scan` over a step whose constants are operands: (last carry, stacked outputs).

    Args:
        key: what the step depends on beside its operands. Equal keys must mean equal equations.
        step: function (constants, carry, slices) -> (carry, outputs), of flat sequences of arrays.
        operands: (constants, carry at the beginning, arrays with a slice for each step on their first axis).
        length: number of steps.
        reverse: whether the last slice comes first.
        unroll: number of steps in one iteration of the compiled loop.
    """
    consts, carry, stacks = operands
    flat = [*consts, *carry, *stacks]
    counts = len(consts), len(carry)
    template = _template_for((key, reverse, unroll, counts), step, flat, length)
    if template is None:
        return _scan(step, flat, counts, (length, reverse, unroll))
    values = [flat[i] for i in template.operands]
    outs = template.primitive.bind(*values, **(template.params | {"length": length}))
    results = [outs[i] for i in template.results]
    return results[: len(carry)], results[len(carry) :]


def _scan(
    step: Step, flat: Sequence[Any], counts: tuple[int, int], options: tuple[Any, bool, int]
) -> tuple[list[Any], list[Any]]:
    """The loop, by JAX."""
    const_count, carry_count = counts
    length, reverse, unroll = options
    consts = flat[:const_count]
    carry = list(flat[const_count : const_count + carry_count])
    stacks = list(flat[const_count + carry_count :])

    def body(carry: Sequence[Any], slices: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        new_carry, outputs = step(consts, carry, slices)
        return list(new_carry), list(outputs)

    if stacks:
        length = None  # JAX takes a symbolic length from the slices alone
    return lax.scan(body, carry, stacks, length=length, reverse=reverse, unroll=unroll)


def _template_for(
    settings: tuple[Any, ...], step: Step, flat: Sequence[Any], length: Any
) -> _Template | None:
    """The template of a loop; the first call makes it. None where the loop goes to JAX."""
    avals = [jax.typeof(x) for x in flat]
    is_symbolic = type(length) is SymbolicDim
    if not is_symbolic and (type(length) is not int or not all(map(is_plain, avals))):
        return None
    counts = settings[-1]
    first_stack = sum(counts)
    # A slice counts without the axis of steps, so that all lengths share a template.
    shapes = [
        (aval.shape[1:] if i >= first_stack else aval.shape, aval.dtype, aval.weak_type)
        for i, aval in enumerate(avals)
    ]
    if is_symbolic and any(type(n) is not int for shape, *_ in shapes for n in shape):
        return None
    key = (settings, tuple(shapes), trace_context())
    if not isinstance(length, int):
        # The trace with a symbolic length has the operands of those before it.
        return _Cache.templates.get(key)
    if key not in _Cache.templates:
        if len(_Cache.templates) >= _MAX_TEMPLATES:
            _Cache.templates.clear()
        _Cache.templates[key] = _make(settings, step, avals, length)
    return _Cache.templates[key]


def _make(settings: tuple[Any, ...], step: Step, avals: Sequence[Any], length: int) -> _Template | None:
    """Traces a loop; None unless it is one equation of its operands."""
    _, reverse, unroll, counts = settings

    def loop(*flat: Any) -> list[Any]:
        carry, outputs = _scan(step, flat, counts, (length, reverse, unroll))
        return [*carry, *outputs]

    equations = trace_function(loop, "loop", avals)
    jaxpr = equations.jaxpr
    # JAX may have put something before or behind the loop.
    if len(jaxpr.eqns) != 1 or equations.consts or jaxpr.eqns[0].params.get("length") != length:
        return None
    (equation,) = jaxpr.eqns
    numbers = {v: i for i, v in enumerate(jaxpr.invars)}
    positions = {v: i for i, v in enumerate(equation.outvars)}
    if any(is_literal(v) or v not in numbers for v in equation.invars):
        return None
    if any(is_literal(v) or v not in positions for v in jaxpr.outvars):
        return None
    operands = [numbers[v] for v in equation.invars]
    results = [positions[v] for v in jaxpr.outvars]
    return _Template(equation.primitive, dict(equation.params), operands, results)
