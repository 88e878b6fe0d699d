"""Reverse accumulation over the equations of a kernel.

`jax.vjp` takes 0.3 to 0.5 ms for each equation: it wraps every operand, traces the tangent of each equation,
and transposes that. For a new kernel that is most of the cost of its gradient. Here the gradients of the
primitives that nearly all equations consist of have one line each, the same formulas as in JAX. All others
(loops, functions with a derivative of their own, products of unlike dtypes) go to `jax.vjp`, equation by
equation. The result is equations again, so gradients of every order are derived in the same way.

Two lists of bool say where gradients flow in an equation. `active`: whether the gradient of an operand is
needed. `wanted`: whether a result has a cotangent. A cotangent of None stands for zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base.symbolic_dims import LengthNumber
from paddle_jax._core.kernels.dependence import (
    PIECEWISE_CONSTANT,
    holds_jaxpr,
    is_literal,
    open_jaxpr,
    variables,
)

Pull: TypeAlias = Callable[[Sequence[Any]], list[Any]]  # from cotangents of results to those of operands
Linearized: TypeAlias = tuple[list[Any], Pull | None]  # results, and None where no gradient flows

# primitives that run the jaxpr they hold, and mean nothing else
CALLS = frozenset(("jit", "pjit", "closed_call", "core_call"))
# name of a primitive -> function (cotangent, equation, operands, result) -> cotangents of the operands, None
# where there is none
RULES: dict[str, Any] = {}
# name of a primitive -> function (equation, operands, active, wanted) -> Linearized; None leaves it to JAX
LINEARIZE_RULES: dict[str, Callable[..., Linearized | None]] = {}
_ERF_SLOPE = 2 / math.sqrt(math.pi)  # derivative of erf at 0


def linearize(
    jaxpr: Any, consts: Sequence[Any], values: Sequence[Any], active: Sequence[bool], wanted: Sequence[bool]
) -> tuple[list[Any], Pull]:
    """(results, pull) of a jaxpr; `pull` gives the cotangents of the operands from those of the results."""
    inputs = variables(jaxpr)
    env = dict(zip(inputs, [*consts, *values], strict=True))
    operand_vars = inputs[len(consts) :]
    active_vars = {v for v, is_active in zip(operand_vars, active, strict=True) if is_active}
    needed_vars = _needed(jaxpr, wanted)
    steps: list[tuple[Sequence[Any], Sequence[Any], Pull]] = []
    for equation in jaxpr.eqns:
        operands = [_literal_value(v) if is_literal(v) else env[v] for v in equation.invars]
        active_in = [not is_literal(v) and v in active_vars for v in equation.invars]
        wanted_out = [v in needed_vars and is_inexact(v.aval) for v in equation.outvars]
        # Values and pulls are made together, so a rule may use what the forward pass has computed.
        results, pull_equation = _linearize_equation(jaxpr, equation, operands, active_in, wanted_out)
        env.update(zip(equation.outvars, results, strict=True))
        if pull_equation is not None:
            active_vars.update(v for v, wants in zip(equation.outvars, wanted_out, strict=True) if wants)
            sources = [v if is_in else None for v, is_in in zip(equation.invars, active_in, strict=True)]
            steps.append((equation.outvars, sources, pull_equation))

    def pull(cotangents: Sequence[Any]) -> list[Any]:
        cts: dict[Any, Any] = {}
        for v, ct in zip(jaxpr.outvars, cotangents, strict=True):
            if not is_literal(v) and v in active_vars:
                add_cotangent(cts, v, ct)
        accumulate(steps, cts)
        return [cts.get(v) for v in operand_vars]

    return [_literal_value(v) if is_literal(v) else env[v] for v in jaxpr.outvars], pull


def _literal_value(literal: Any) -> Any:
    """The number of a literal, which may be computed from symbolic lengths."""
    if type(literal.val) is LengthNumber:
        return literal.val.bind()
    return literal.val


def _needed(jaxpr: Any, wanted: Sequence[bool]) -> set[Any]:
    """The variables on which a wanted result depends.

    Other results must not take part: zero times the infinite derivative of an eigenvector is not zero.
    """
    needed = {v for v, wants in zip(jaxpr.outvars, wanted, strict=True) if wants and not is_literal(v)}
    # Backwards: an equation is needed if one of its results is.
    for equation in reversed(jaxpr.eqns):
        if not needed.isdisjoint(equation.outvars):
            needed.update(v for v in equation.invars if not is_literal(v))
    return needed


def accumulate(steps: Sequence[tuple[Sequence[Any], Sequence[Any], Pull]], cts: dict[Any, Any]) -> None:
    """Goes back over the steps of a program and adds up cotangents.

    Args:
        steps: (results, operands, pull) of each step. An operand is None where no gradient is passed on.
        cts: the cotangents to start from, by variable; gets all others.
    """
    for results, operands, pull in reversed(steps):
        outs = [cts.get(v) for v in results]
        # No later step has sent anything here: nothing is computed for it.
        if all(ct is None for ct in outs):
            continue
        for v, ct in zip(operands, pull(outs), strict=True):
            if v is not None:
                add_cotangent(cts, v, ct)


def add_cotangent(cts: dict[Any, Any], v: Any, ct: Any) -> None:
    """Adds a cotangent, or None, to the sum of a variable."""
    if ct is not None:
        cts[v] = lax.add(cts[v], ct) if v in cts else ct


def _linearize_equation(
    jaxpr: Any, equation: Any, operands: Sequence[Any], active: Sequence[bool], wanted: Sequence[bool]
) -> Linearized:
    """(results, pull) of one equation; no pull where no gradient flows from wanted results to active
    operands."""
    name = equation.primitive.name
    if not any(active) or not any(wanted) or name in PIECEWISE_CONSTANT:
        return _evaluate(jaxpr, equation, operands), None
    if name in CALLS:
        return linearize(*open_jaxpr(equation.params["jaxpr"]), operands, active, wanted)
    if name == "custom_jvp_call" and _has_tangents(equation, active):
        return _linearize_custom_jvp(equation, operands, active, wanted)
    if name in LINEARIZE_RULES:
        linearized = LINEARIZE_RULES[name](equation, operands, active, wanted)
        if linearized is not None:
            return linearized
    rule = RULES.get(name)
    if rule is None or not (rule.fits is None or rule.fits(equation)):
        return _linearize_by_jax(jaxpr, equation, operands, active, wanted)
    results = _evaluate(jaxpr, equation, operands)
    return results, lambda cts: rule(cts[0], equation, operands, results[0])


def _evaluate(jaxpr: Any, equation: Any, operands: Sequence[Any]) -> list[Any]:
    """The results of one equation."""
    # Such a primitive takes functions in place of its jaxprs.
    if any(map(holds_jaxpr, equation.params.values())):
        return _as_function(jaxpr, equation)(*operands)
    out = equation.primitive.bind(*operands, **equation.params)
    if equation.primitive.multiple_results:
        return out
    return [out]


def _as_function(jaxpr: Any, equation: Any) -> Callable[..., list[Any]]:
    """One equation as a function of its operands."""
    indices = [i for i, v in enumerate(equation.invars) if not is_literal(v)]
    one = jaxpr.replace(
        constvars=[],
        invars=[equation.invars[i] for i in indices],
        outvars=list(equation.outvars),
        eqns=[equation],
        # The names are those of the whole jaxpr.
        debug_info=jaxpr.debug_info._replace(arg_names=None, result_paths=None),
    )
    return lambda *operands: jax.core.eval_jaxpr(one, (), *[operands[i] for i in indices])


def _linearize_by_jax(
    jaxpr: Any, equation: Any, operands: Sequence[Any], active: Sequence[bool], wanted: Sequence[bool]
) -> Linearized:
    """(results, pull) of an equation without a rule, by `jax.vjp`."""
    first_index: dict[Any, int] = {}  # an operand that stands twice counts once
    for i, v in enumerate(equation.invars):
        if active[i]:
            first_index.setdefault(v, i)
    function = _as_function(jaxpr, equation)
    wanted_indices = [i for i, wants in enumerate(wanted) if wants]

    def of_active(*active_operands: Any) -> tuple[list[Any], list[Any]]:
        replaced = dict(zip(first_index, active_operands, strict=True))
        pairs = zip(equation.invars, operands, strict=True)
        results = function(*[x if is_literal(v) else replaced.get(v, x) for v, x in pairs])
        return [results[i] for i in wanted_indices], results

    active_operands = [operands[i] for i in first_index.values()]
    _, vjp, results = jax.vjp(of_active, *active_operands, has_aux=True)

    def pull(cts: Sequence[Any]) -> list[Any]:
        grads = vjp([zeros_if_none(cts[i], equation.outvars[i].aval) for i in wanted_indices])
        grad_of = dict(zip(first_index.values(), grads, strict=True))
        return [grad_of.get(i) for i in range(len(operands))]

    return results, pull


def _has_tangents(equation: Any, active: Sequence[bool]) -> bool:
    """Whether all operands of a function with a derivative of its own have tangents, but for constants."""
    n = equation.params.get("num_consts", 0)
    return (
        "jvp_jaxpr_fun" in equation.params
        and not any(active[:n])
        and all(is_inexact(v.aval) for v in equation.invars[n:])
    )


def _linearize_custom_jvp(
    equation: Any, operands: Sequence[Any], active: Sequence[bool], wanted: Sequence[bool]
) -> Linearized:
    """(results, pull) of a function with a derivative of its own.

    Its rule gives results and tangents. The tangents depend linearly on the tangents of the operands. So the
    gradients with respect to these tangents, at any point, are the cotangents of the operands.
    """
    n = equation.params["num_consts"]
    symbolic_zeros = equation.params["symbolic_zeros"]
    primals = operands[n:]
    active_primals = active[n:]
    # Such a rule leaves out the tangents that are zero.
    is_zero = [symbolic_zeros and not is_active for is_active in active_primals]
    rule, consts, has_no_tangent = equation.params["jvp_jaxpr_fun"].call_wrapped(*is_zero)
    tangent_inputs = [i for i, zero in enumerate(is_zero) if not zero]
    tangents = [zeros_if_none(None, equation.invars[n + i].aval) for i in tangent_inputs]
    tangent_outputs = [i for i, none in enumerate(has_no_tangent) if not none]
    result_count = len(has_no_tangent)
    rule_active = [False] * len(primals) + [active_primals[i] for i in tangent_inputs]
    rule_wanted = [False] * result_count + [wanted[i] for i in tangent_outputs]
    outs, rule_pull = linearize(rule, consts, [*primals, *tangents], rule_active, rule_wanted)

    def pull(cts: Sequence[Any]) -> list[Any]:
        grads = rule_pull([None] * result_count + [cts[i] for i in tangent_outputs])[len(primals) :]
        grad_of = dict(zip(tangent_inputs, grads, strict=True))
        return [None] * n + [grad_of.get(i) for i in range(len(primals))]

    return outs[:result_count], pull


def zeros_if_none(ct: Any, aval: Any) -> Any:
    """A cotangent, or zeros in place of None."""
    if ct is None:
        return lax.full(aval.shape, 0, aval.dtype)
    return ct


def is_inexact(aval: Any) -> bool:
    """Whether the elements are floating or complex numbers."""
    return jnp.issubdtype(aval.dtype, np.inexact)


def _has_inexact_result(equation: Any) -> bool:
    return is_inexact(equation.outvars[0].aval)


# rules ------------------------------------------------------------------------------------------------------


def _rule(
    *names: str, fits: Callable[[Any], bool] | None = None
) -> Callable[[Callable[..., list[Any]]], Callable[..., list[Any]]]:
    """Declares the rule of some primitives.

    Args:
        names: names of the primitives.
        fits: function that says whether the rule holds for an equation; None: for all.
    """

    def declare(fn: Any) -> Any:
        fn.fits = fits
        for name in names:
            RULES[name] = fn
        return fn

    return declare


def _has_one_dtype(equation: Any) -> bool:
    """Whether operands and result have one inexact dtype, and one number of axes or none (lengths
    of 1 are spread)."""
    out = equation.outvars[0].aval
    return is_inexact(out) and all(
        v.aval.dtype == out.dtype and v.aval.ndim in (0, out.ndim) for v in equation.invars
    )


def _is_real(equation: Any) -> bool:
    return _has_one_dtype(equation) and jnp.issubdtype(equation.outvars[0].aval.dtype, np.floating)


def _is_float_conversion(equation: Any) -> bool:
    """Whether a conversion is one between real floating dtypes."""
    return all(jnp.issubdtype(v.aval.dtype, np.floating) for v in (equation.invars[0], equation.outvars[0]))


def _elementwise(
    name: str, derivative: Callable[..., Any], fits: Callable[[Any], bool] = _has_one_dtype
) -> None:
    """Declares a function of one operand: derivative(cotangent, x, y) is the cotangent of the operand."""
    _rule(name, fits=fits)(lambda ct, equation, operands, result: [derivative(ct, operands[0], result)])


def _binary(name: str, first: Callable[..., Any], second: Callable[..., Any]) -> None:
    """Declares a function of two operands, by the cotangents of both."""

    @_rule(name, fits=_has_one_dtype)
    def rule(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
        pairs = zip(equation.invars, (first, second), strict=True)
        return [
            None if is_literal(v) else _sum_to_shape(derivative(ct, *operands, result), v.aval.shape)
            for v, derivative in pairs
        ]


def _sum_to_shape(ct: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of an operand whose axes of length 1 were spread over the result."""
    if ct.shape == shape:
        return ct
    axes = [axis for axis in range(ct.ndim) if not shape or shape[axis] != ct.shape[axis]]
    return lax.reshape(lax.reduce_sum(ct, axes), shape)


def _number(x: Any, number: float) -> Any:
    """A number in the dtype of an array."""
    return x.dtype.type(number)


_elementwise("neg", lambda ct, x, y: lax.neg(ct))
_elementwise("exp", lambda ct, x, y: lax.mul(ct, y))
_elementwise("log", lambda ct, x, y: lax.div(ct, x))
_elementwise("log1p", lambda ct, x, y: lax.div(ct, lax.add(x, _number(x, 1))))
_elementwise("expm1", lambda ct, x, y: lax.mul(ct, lax.add(y, _number(y, 1))))
_elementwise("sin", lambda ct, x, y: lax.mul(ct, lax.cos(x)))
_elementwise("cos", lambda ct, x, y: lax.neg(lax.mul(ct, lax.sin(x))))
# (1 + y)(1 - y) keeps the digits that 1 - y^2 loses near 1.
_elementwise("tanh", lambda ct, x, y: lax.mul(lax.add(ct, lax.mul(ct, y)), lax.sub(_number(y, 1), y)))
_elementwise("logistic", lambda ct, x, y: lax.mul(ct, lax.mul(y, lax.sub(_number(y, 1), y))))
_elementwise("sqrt", lambda ct, x, y: lax.mul(ct, lax.div(_number(y, 0.5), y)))
_elementwise("rsqrt", lambda ct, x, y: lax.mul(ct, lax.mul(lax.div(y, x), _number(y, -0.5))))
_elementwise("square", lambda ct, x, y: lax.mul(ct, lax.mul(x, _number(x, 2))))
_elementwise("abs", lambda ct, x, y: lax.select(lax.ge(x, _number(x, 0)), ct, lax.neg(ct)), _is_real)
_elementwise(
    "erf",
    lambda ct, x, y: lax.mul(
        lax.mul(ct, _number(x, 2 / math.sqrt(math.pi))), lax.exp(lax.neg(lax.square(x)))
    ),
    _is_real,
)
_elementwise("copy", lambda ct, x, y: ct)
_elementwise("copy_p", lambda ct, x, y: ct)
_binary("add", lambda ct, x, y, z: ct, lambda ct, x, y, z: ct)
_binary("add_any", lambda ct, x, y, z: ct, lambda ct, x, y, z: ct)
_binary("sub", lambda ct, x, y, z: ct, lambda ct, x, y, z: lax.neg(ct))
_binary("mul", lambda ct, x, y, z: lax.mul(ct, y), lambda ct, x, y, z: lax.mul(ct, x))
_binary(
    "div",
    lambda ct, x, y, z: lax.div(ct, y),
    lambda ct, x, y, z: lax.mul(lax.mul(lax.neg(ct), x), lax.integer_pow(y, -2)),
)
_binary(
    "max",
    lambda ct, x, y, z: _split_between_equal(ct, x, y, z),
    lambda ct, x, y, z: _split_between_equal(ct, y, x, z),
)
_binary(
    "min",
    lambda ct, x, y, z: _split_between_equal(ct, x, y, z),
    lambda ct, x, y, z: _split_between_equal(ct, y, x, z),
)


def _split_between_equal(ct: Any, x: Any, other: Any, z: Any) -> Any:
    """The part of a cotangent for x, the larger (or smaller) of two; equal ones get half each."""
    ones = lax.full_like(z, 1)
    is_result = lax.select(lax.eq(x, z), ones, lax.full_like(z, 0))
    sharers = lax.select(lax.eq(other, z), lax.full_like(z, 2), ones)
    return lax.mul(ct, lax.div(is_result, sharers))


@_rule("integer_pow", fits=_has_one_dtype)
def _integer_pow(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    exponent = equation.params["y"]
    x = operands[0]
    if exponent == 0:
        return [None]
    if exponent == 1:
        return [lax.mul(ct, lax.full_like(x, 1))]
    # d x^n = n x^(n - 1); above are the cases in which x^(n - 1) would be x^-1 or x^0.
    derivative = lax.mul(lax.integer_pow(x, exponent - 1), _number(x, exponent))
    return [lax.mul(ct, derivative)]


@_rule("convert_element_type", fits=_is_float_conversion)
def _convert(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    return [lax.convert_element_type(ct, equation.invars[0].aval.dtype)]


# data movement ----------------------------------------------------------------------------------------------


@_rule("reshape", fits=lambda equation: equation.params.get("dimensions") is None)
@_rule("squeeze", "expand_dims")
def _reshape(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    return [lax.reshape(ct, equation.invars[0].aval.shape)]


@_rule("broadcast_in_dim", fits=lambda equation: len(equation.invars) == 1)
def _broadcast(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    if is_literal(equation.invars[0]):
        return [None]
    shape = equation.invars[0].aval.shape
    dims = equation.params["broadcast_dimensions"]
    # An axis of length 1 that was repeated is summed, too.
    kept = {axis for axis, n in zip(dims, shape, strict=True) if n == ct.shape[axis]}
    axes = tuple(axis for axis in range(ct.ndim) if axis not in kept)
    summed = lax.reduce_sum(ct, axes) if axes else ct
    return [summed if summed.shape == shape else lax.reshape(summed, shape)]


@_rule("reduce_sum", fits=_has_inexact_result)
def _reduce_sum(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    shape = equation.invars[0].aval.shape
    kept = tuple(axis for axis in range(len(shape)) if axis not in equation.params["axes"])
    return [lax.broadcast_in_dim(ct, shape, kept)]


@_rule("reduce_max", "reduce_min", fits=_has_inexact_result)
def _reduce_most(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    """Elements that equal the result share the cotangent."""
    x = operands[0]
    axes = equation.params["axes"]
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    is_result = lax.eq(x, lax.broadcast_in_dim(result, x.shape, kept))
    weights = lax.convert_element_type(is_result, ct.dtype)
    # Equal largest elements get equal shares, as in JAX.
    share = lax.div(ct, lax.reduce_sum(weights, axes))
    return [lax.mul(lax.broadcast_in_dim(share, x.shape, kept), weights)]


@_rule(
    "pad",
    fits=lambda equation: (
        is_literal(equation.invars[1])
        and all(low >= 0 <= high for low, high, _ in equation.params["padding_config"])
    ),
)
def _pad(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    config = equation.params["padding_config"]
    starts = [low for low, _, _ in config]
    ends = [n - high for (_, high, _), n in zip(config, ct.shape, strict=True)]
    steps = [inner + 1 for _, _, inner in config]
    # The elements between and around are padding, whose cotangent goes nowhere.
    return [lax.slice(ct, starts, ends, steps), None]


@_rule("transpose")
def _transpose(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    # `argsort` of a permutation is its inverse.
    return [lax.transpose(ct, np.argsort(equation.params["permutation"]))]


@_rule("rev")
def _rev(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    return [lax.rev(ct, equation.params["dimensions"])]


@_rule("running_sum")
def _running_sum(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    # Each element is part of the sums from its place on.
    params = equation.params
    return [equation.primitive.bind(ct, axis=params["axis"], reverse=not params["reverse"])]


@_rule("concatenate")
def _concatenate(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    axis = equation.params["dimension"]
    start = 0
    parts = []
    for v in equation.invars:
        end = start + v.aval.shape[axis]
        parts.append(lax.slice_in_dim(ct, start, end, axis=axis))
        start = end
    return parts


@_rule("slice")
def _slice(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    shape = equation.invars[0].aval.shape
    starts = equation.params["start_indices"]
    steps = equation.params["strides"] or (1,) * len(shape)
    padding = []
    for start, step, length, count in zip(starts, steps, shape, ct.shape, strict=True):
        # behind the last element that is read
        if count:
            end = start + (count - 1) * step + 1
        else:
            end = start
        padding.append((start, length - end, step - 1))
    # Zeros where nothing was read, also between elements that a step has passed over.
    return [lax.pad(ct, _number(ct, 0), padding)]


@_rule("select_n", fits=lambda equation: len(equation.invars) == 3 and is_inexact(equation.outvars[0].aval))
def _select(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    predicate = operands[0]
    zeros = lax.full_like(ct, 0)
    cts = lax.select_n(predicate, ct, zeros), lax.select_n(predicate, zeros, ct)
    cases = zip(equation.invars[1:], cts, strict=True)
    return [None, *[None if is_literal(v) else case_ct for v, case_ct in cases]]


@_rule("gather", fits=_has_inexact_result)
def _gather(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    params = equation.params
    dims = params["dimension_numbers"]
    scatter_dims = lax.ScatterDimensionNumbers(
        update_window_dims=dims.offset_dims,
        inserted_window_dims=dims.collapsed_slice_dims,
        scatter_dims_to_operand_dims=dims.start_index_map,
        operand_batching_dims=dims.operand_batching_dims,
        scatter_indices_batching_dims=dims.start_indices_batching_dims,
    )
    x, indices = operands
    return [
        lax.scatter_add(
            lax.full(x.shape, 0, ct.dtype),
            indices,
            ct,
            scatter_dims,
            indices_are_sorted=params["indices_are_sorted"],
            unique_indices=params["unique_indices"],
            mode=params["mode"],
        ),
        None,
    ]


@_rule("scatter-add", fits=_has_inexact_result)
def _scatter_add(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    params = equation.params
    dims = params["dimension_numbers"]
    gather_dims = lax.GatherDimensionNumbers(
        offset_dims=dims.update_window_dims,
        collapsed_slice_dims=dims.inserted_window_dims,
        start_index_map=dims.scatter_dims_to_operand_dims,
        operand_batching_dims=dims.operand_batching_dims,
        start_indices_batching_dims=dims.scatter_indices_batching_dims,
    )
    x, indices, updates = operands
    window = iter([updates.shape[axis] for axis in dims.update_window_dims])
    single = {*dims.inserted_window_dims, *dims.operand_batching_dims}
    update_ct = lax.gather(
        ct,
        indices,
        gather_dims,
        tuple([1 if axis in single else next(window) for axis in range(x.ndim)]),
        indices_are_sorted=params["indices_are_sorted"],
        unique_indices=params["unique_indices"],
        mode=params["mode"],
        # An update that is out of range has no part in the result.
        fill_value=0,
    )
    return [ct, None, update_ct]


def _is_plain_product(equation: Any) -> bool:
    """Whether a product is one of operands of one dtype, summed in that dtype."""
    dtypes = {v.aval.dtype for v in (*equation.invars, *equation.outvars)}
    sum_dtype = equation.params.get("preferred_element_type")
    if sum_dtype is not None:
        dtypes.add(np.dtype(sum_dtype))
    return len(dtypes) == 1 and equation.params.get("out_sharding") is None


@_rule("dot_general", fits=_is_plain_product)
def _dot(ct: Any, equation: Any, operands: Sequence[Any], result: Any) -> list[Any]:
    params = equation.params
    x, y = operands
    (contracted_x, contracted_y), (batch_x, batch_y) = params["dimension_numbers"]
    free_x = _free_axes(x.ndim, contracted_x, batch_x)
    free_y = _free_axes(y.ndim, contracted_y, batch_y)
    # axes of the cotangent: batch axes, the free ones of x, the free ones of y
    batch_count = len(batch_x)
    batch = range(batch_count)
    rows = range(batch_count, batch_count + len(free_x))
    columns = range(batch_count + len(free_x), ct.ndim)
    precision = params["precision"]
    if isinstance(precision, tuple):
        # One for each operand: the second product has them exchanged.
        swapped_precision = precision[::-1]
    else:
        swapped_precision = precision
    sum_dtype = params["preferred_element_type"]
    # z = x . y: the gradient of x is ct . y over the free axes of y, that of y is ct . x over those of x.
    grad_x = lax.dot_general(
        ct, y, ((columns, free_y), (batch, batch_y)), precision=precision, preferred_element_type=sum_dtype
    )
    grad_y = lax.dot_general(
        ct,
        x,
        ((rows, free_x), (batch, batch_x)),
        precision=swapped_precision,
        preferred_element_type=sum_dtype,
    )
    return [
        _restore_axes(grad_x, batch_x, free_x, contracted_x, contracted_y),
        _restore_axes(grad_y, batch_y, free_y, contracted_y, contracted_x),
    ]


def _free_axes(ndim: int, contracted: Iterable[int], batch: Iterable[int]) -> list[int]:
    return [axis for axis in range(ndim) if axis not in contracted and axis not in batch]


def _restore_axes(
    product: Any, batch: Sequence[int], free: Sequence[int], contracted: Sequence[int], partner: Sequence[int]
) -> Any:
    """The gradient of an operand in the order of its axes.

    `product` has batch axes, free axes, and then those contracted, in the order of the partner's axes.
    """
    # The product has its axes in the order batch, free, contracted.
    order = [*batch, *free, *[contracted[i] for i in np.argsort(partner)]]
    if order == sorted(order):
        return product
    return lax.transpose(product, np.argsort(order))
