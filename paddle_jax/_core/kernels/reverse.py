"""Reverse accumulation over the equations of a kernel.

`jax.vjp` takes 0.3 to 0.5 ms for each equation: it wraps every operand, traces the tangent of each equation,
and transposes that. For a new kernel that is most of what its gradient costs. Here the gradients of the
primitives that nearly all equations are made of stand as one line each, the same formulas as JAX's; whatever
is not among them (loops, functions with a derivative of their own, products of unlike dtypes) goes to
`jax.vjp`, equation by equation. What comes out are equations again, so gradients of every order are
derived the same way.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.kernels.dependence import (
    PIECEWISE_CONSTANT,
    holds_jaxpr,
    is_literal,
    open_jaxpr,
    variables,
)

# run the jaxpr they hold, and nothing else is meant by them
CALLS = frozenset(("jit", "pjit", "closed_call", "core_call"))
# name of a primitive -> function (cotangent, equation, operands, result) -> cotangents of the operands, None
# where there is none
RULES = {}
# name of a primitive -> function as `linearized`, of its equation: (results, pull), or None where it is left
# to JAX
LINEARIZE_RULES = {}


def linearize(jaxpr, consts, values, moving, wanted):
    """(results, pull) of a jaxpr. moving: for each operand whether its gradient is asked for; wanted: for
    each result whether it will get a cotangent. `pull` gives the cotangents of the operands from those of the
    results; None stands for zeros."""
    inputs = variables(jaxpr)
    env, steps, inputs = dict(zip(inputs, [*consts, *values], strict=True)), [], inputs[len(consts) :]
    live = {v for v, moves in zip(inputs, moving, strict=True) if moves}
    needed = _needed(jaxpr, wanted)
    for equation in jaxpr.eqns:
        operands = [v.val if is_literal(v) else env[v] for v in equation.invars]
        moves = [not is_literal(v) and v in live for v in equation.invars]
        moved = [v in needed and is_inexact(v.aval) for v in equation.outvars]
        results, back = _linearize_equation(jaxpr, equation, operands, moves, moved)
        env.update(zip(equation.outvars, results, strict=True))
        if back is not None:
            live.update(v for v, moves in zip(equation.outvars, moved, strict=True) if moves)
            steps.append(
                (
                    equation.outvars,
                    [v if m else None for v, m in zip(equation.invars, moves, strict=True)],
                    back,
                )
            )

    def pull(cotangents):
        cts = {}
        for v, ct in zip(jaxpr.outvars, cotangents, strict=True):
            if not is_literal(v) and v in live:
                add_cotangent(cts, v, ct)
        accumulate(steps, cts)
        return [cts.get(v) for v in inputs]

    return [v.val if is_literal(v) else env[v] for v in jaxpr.outvars], pull


def _needed(jaxpr, wanted):
    """The variables on which a wanted result depends. A result that nobody wants the gradient of must not
    take part: zero times the infinite derivative of an eigenvector is not zero."""
    needed = {v for v, wants in zip(jaxpr.outvars, wanted, strict=True) if wants and not is_literal(v)}
    for equation in reversed(jaxpr.eqns):
        if not needed.isdisjoint(equation.outvars):
            needed.update(v for v in equation.invars if not is_literal(v))
    return needed


def accumulate(steps, cts):
    """Goes back over steps of a program: (results, operands, back), where `back` gives the cotangents of the
    operands from those of the results. An operand is None where no gradient is passed on. `cts` has the
    cotangents to start from, by variable, and gets all others."""
    for results, operands, back in reversed(steps):
        outs = [cts.get(v) for v in results]
        if any(ct is not None for ct in outs):
            for v, ct in zip(operands, back(outs), strict=True):
                if v is not None:
                    add_cotangent(cts, v, ct)


def add_cotangent(cts, v, ct):
    """Adds a cotangent, or None, to what a variable has got."""
    if ct is not None:
        cts[v] = lax.add(cts[v], ct) if v in cts else ct


def _linearize_equation(jaxpr, equation, operands, moves, moved):
    """(results, pull) of one equation; no pull where no gradient flows from the results in `moved` to the
    operands in `moves`."""
    name = equation.primitive.name
    if not any(moves) or not any(moved) or name in PIECEWISE_CONSTANT:
        return _evaluated(jaxpr, equation, operands), None
    if name in CALLS:
        return linearize(*open_jaxpr(equation.params["jaxpr"]), operands, moves, moved)
    if name == "custom_jvp_call" and _smooth_operands(equation, moves):
        return _linearize_custom_jvp(equation, operands, moves, moved)
    own = LINEARIZE_RULES[name](equation, operands, moves, moved) if name in LINEARIZE_RULES else None
    if own is not None:
        return own
    rule = RULES.get(name)
    if rule is None or not (rule.fits is None or rule.fits(equation)):
        return _linearize_by_jax(jaxpr, equation, operands, moves, moved)
    results = _evaluated(jaxpr, equation, operands)
    return results, lambda cts: rule(cts[0], equation, operands, results[0])


def _evaluated(jaxpr, equation, operands):
    if any(map(holds_jaxpr, equation.params.values())):
        return _as_function(jaxpr, equation)(*operands)
    out = equation.primitive.bind(*operands, **equation.params)
    return out if equation.primitive.multiple_results else [out]


def _as_function(jaxpr, equation):
    """One equation as a function of its operands."""
    places = [i for i, v in enumerate(equation.invars) if not is_literal(v)]
    one = jaxpr.replace(
        constvars=[],
        invars=[equation.invars[i] for i in places],
        outvars=list(equation.outvars),
        eqns=[equation],
        debug_info=jaxpr.debug_info._replace(arg_names=None, result_paths=None),
    )
    return lambda *operands: jax.core.eval_jaxpr(one, (), *[operands[i] for i in places])


def _linearize_by_jax(jaxpr, equation, operands, moves, moved):
    """(results, pull) of an equation without a rule."""
    places = {}  # an operand that stands twice counts once
    for i, v in enumerate(equation.invars):
        if moves[i]:
            places.setdefault(v, i)
    fn, smooth = _as_function(jaxpr, equation), [i for i, moves in enumerate(moved) if moves]

    def of_moving(*chosen):
        known = dict(zip(places, chosen, strict=True))
        results = fn(
            *[
                known.get(v, x) if not is_literal(v) else x
                for v, x in zip(equation.invars, operands, strict=True)
            ]
        )
        return [results[i] for i in smooth], results

    _, back, results = jax.vjp(of_moving, *[operands[i] for i in places.values()], has_aux=True)

    def pull(cts):
        found = back([zeros_if_none(cts[i], equation.outvars[i].aval) for i in smooth])
        given = dict(zip(places.values(), found, strict=True))
        return [given.get(i) for i in range(len(operands))]

    return results, pull


def _smooth_operands(equation, moves):
    """Whether all operands of a function with a derivative of its own have tangents, but for constants."""
    n = equation.params.get("num_consts", 0)
    return (
        "jvp_jaxpr_fun" in equation.params
        and not any(moves[:n])
        and all(is_inexact(v.aval) for v in equation.invars[n:])
    )


def _linearize_custom_jvp(equation, operands, moves, moved):
    """(results, pull) of a function with a derivative of its own. Its rule gives results and tangents, and
    these depend linearly on the tangents of the operands: so their gradients with respect to those, wherever
    they are taken, are the cotangents."""
    n, symbolic = equation.params["num_consts"], equation.params["symbolic_zeros"]
    primals, moves = operands[n:], moves[n:]
    zeros = [symbolic and not m for m in moves]
    rule, consts, no_tangent = equation.params["jvp_jaxpr_fun"].call_wrapped(*zeros)
    places = [i for i, zero in enumerate(zeros) if not zero]
    tangents = [zeros_if_none(None, equation.invars[n + i].aval) for i in places]
    outs = [i for i, none in enumerate(no_tangent) if not none]
    unmoved = [False] * len(no_tangent)
    moving, wanted = [False] * len(primals) + [moves[i] for i in places], unmoved + [moved[i] for i in outs]
    found, back = linearize(rule, consts, [*primals, *tangents], moving, wanted)

    def pull(cts):
        given = back([None] * len(unmoved) + [cts[i] for i in outs])[len(primals) :]
        given = dict(zip(places, given, strict=True))
        return [None] * n + [given.get(i) for i in range(len(primals))]

    return found[: len(no_tangent)], pull


def zeros_if_none(ct, aval):
    return lax.full(aval.shape, 0, aval.dtype) if ct is None else ct


def is_inexact(aval):
    return jnp.issubdtype(aval.dtype, np.inexact)


def _inexact_result(equation):
    return is_inexact(equation.outvars[0].aval)


# rules ------------------------------------------------------------------------------------------------------


def _rule(*names, fits=None):
    """Declares the rule of some primitives. fits: whether it holds for an equation."""

    def declare(fn):
        fn.fits = fits
        for name in names:
            RULES[name] = fn
        return fn

    return declare


def _alike(equation):
    """Whether operands and result have one inexact dtype, and one number of axes or none (lengths
    of 1 are spread)."""
    out = equation.outvars[0].aval
    return is_inexact(out) and all(
        v.aval.dtype == out.dtype and v.aval.ndim in (0, out.ndim) for v in equation.invars
    )


def _real(equation):
    return _alike(equation) and jnp.issubdtype(equation.outvars[0].aval.dtype, np.floating)


def _cast(equation):
    """Whether a conversion is one between real floating dtypes."""
    return all(jnp.issubdtype(v.aval.dtype, np.floating) for v in (equation.invars[0], equation.outvars[0]))


def _elementwise(name, derivative, fits=_alike):
    """Declares a function of one operand: derivative(cotangent, x, y) is the cotangent of the operand."""
    _rule(name, fits=fits)(lambda ct, equation, operands, result: [derivative(ct, operands[0], result)])


def _binary(name, first, second):
    """Declares a function of two operands, by the cotangents of both."""

    @_rule(name, fits=_alike)
    def rule(ct, equation, operands, result):
        pairs = zip(equation.invars, (first, second), strict=True)
        return [
            None if is_literal(v) else _gathered(derivative(ct, *operands, result), v.aval.shape)
            for v, derivative in pairs
        ]


def _gathered(ct, shape):
    """The cotangent of an operand whose axes of length 1 were spread over the result."""
    if ct.shape == shape:
        return ct
    axes = [axis for axis in range(ct.ndim) if not shape or shape[axis] != ct.shape[axis]]
    return lax.reshape(lax.reduce_sum(ct, axes), shape)


def _n(x, number):
    """A number in the dtype of an array."""
    return x.dtype.type(number)


_elementwise("neg", lambda ct, x, y: lax.neg(ct))
_elementwise("exp", lambda ct, x, y: lax.mul(ct, y))
_elementwise("log", lambda ct, x, y: lax.div(ct, x))
_elementwise("log1p", lambda ct, x, y: lax.div(ct, lax.add(x, _n(x, 1))))
_elementwise("expm1", lambda ct, x, y: lax.mul(ct, lax.add(y, _n(y, 1))))
_elementwise("sin", lambda ct, x, y: lax.mul(ct, lax.cos(x)))
_elementwise("cos", lambda ct, x, y: lax.neg(lax.mul(ct, lax.sin(x))))
_elementwise("tanh", lambda ct, x, y: lax.mul(lax.add(ct, lax.mul(ct, y)), lax.sub(_n(y, 1), y)))
_elementwise("logistic", lambda ct, x, y: lax.mul(ct, lax.mul(y, lax.sub(_n(y, 1), y))))
_elementwise("sqrt", lambda ct, x, y: lax.mul(ct, lax.div(_n(y, 0.5), y)))
_elementwise("rsqrt", lambda ct, x, y: lax.mul(ct, lax.mul(lax.div(y, x), _n(y, -0.5))))
_elementwise("square", lambda ct, x, y: lax.mul(ct, lax.mul(x, _n(x, 2))))
_elementwise("abs", lambda ct, x, y: lax.select(lax.ge(x, _n(x, 0)), ct, lax.neg(ct)), _real)
_elementwise(
    "erf",
    lambda ct, x, y: lax.mul(lax.mul(ct, _n(x, 2 / math.sqrt(math.pi))), lax.exp(lax.neg(lax.square(x)))),
    _real,
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
_binary("max", lambda ct, x, y, z: _shared(ct, x, y, z), lambda ct, x, y, z: _shared(ct, y, x, z))
_binary("min", lambda ct, x, y, z: _shared(ct, x, y, z), lambda ct, x, y, z: _shared(ct, y, x, z))


def _shared(ct, x, other, z):
    """The part of a cotangent for x, the larger (or smaller) of two; equal ones get half each."""
    ones = lax.full_like(z, 1)
    return lax.mul(
        ct,
        lax.div(
            lax.select(lax.eq(x, z), ones, lax.full_like(z, 0)),
            lax.select(lax.eq(other, z), lax.full_like(z, 2), ones),
        ),
    )


@_rule("integer_pow", fits=_alike)
def _integer_pow(ct, equation, operands, result):
    n, x = equation.params["y"], operands[0]
    return (
        [lax.mul(ct, lax.mul(lax.integer_pow(x, n - 1), _n(x, n)) if n != 1 else lax.full_like(x, 1))]
        if n
        else [None]
    )


@_rule("convert_element_type", fits=_cast)
def _convert(ct, equation, operands, result):
    return [lax.convert_element_type(ct, equation.invars[0].aval.dtype)]


# places of elements -----------------------------------------------------------------------------------------


@_rule("reshape", fits=lambda equation: equation.params.get("dimensions") is None)
@_rule("squeeze", "expand_dims")
def _reshape(ct, equation, operands, result):
    return [lax.reshape(ct, equation.invars[0].aval.shape)]


@_rule("broadcast_in_dim", fits=lambda equation: len(equation.invars) == 1)
def _broadcast(ct, equation, operands, result):
    if is_literal(equation.invars[0]):
        return [None]
    shape, dims = equation.invars[0].aval.shape, equation.params["broadcast_dimensions"]
    kept = {axis for axis, n in zip(dims, shape, strict=True) if n == ct.shape[axis]}
    axes = tuple(axis for axis in range(ct.ndim) if axis not in kept)
    summed = lax.reduce_sum(ct, axes) if axes else ct
    return [summed if summed.shape == shape else lax.reshape(summed, shape)]


@_rule("reduce_sum", fits=_inexact_result)
def _reduce_sum(ct, equation, operands, result):
    shape, axes = equation.invars[0].aval.shape, equation.params["axes"]
    return [lax.broadcast_in_dim(ct, shape, tuple(axis for axis in range(len(shape)) if axis not in axes))]


@_rule("reduce_max", "reduce_min", fits=_inexact_result)
def _reduce_most(ct, equation, operands, result):
    """Equal elements share."""
    shape, axes = operands[0].shape, equation.params["axes"]
    kept = tuple(axis for axis in range(len(shape)) if axis not in axes)
    those = lax.convert_element_type(lax.eq(operands[0], lax.broadcast_in_dim(result, shape, kept)), ct.dtype)
    return [lax.mul(lax.broadcast_in_dim(lax.div(ct, lax.reduce_sum(those, axes)), shape, kept), those)]


@_rule(
    "pad",
    fits=lambda equation: (
        is_literal(equation.invars[1])
        and all(low >= 0 <= high for low, high, _ in equation.params["padding_config"])
    ),
)
def _pad(ct, equation, operands, result):
    edges = list(zip(equation.params["padding_config"], ct.shape, strict=True))
    starts, ends = [low for (low, _, _), _ in edges], [n - high for (_, high, _), n in edges]
    return [lax.slice(ct, starts, ends, [inner + 1 for (_, _, inner), _ in edges]), None]


@_rule("transpose")
def _transpose(ct, equation, operands, result):
    return [lax.transpose(ct, np.argsort(equation.params["permutation"]))]


@_rule("rev")
def _rev(ct, equation, operands, result):
    return [lax.rev(ct, equation.params["dimensions"])]


@_rule("concatenate")
def _concatenate(ct, equation, operands, result):
    axis, at, parts = equation.params["dimension"], 0, []
    for v in equation.invars:
        n = v.aval.shape[axis]
        parts.append(lax.slice_in_dim(ct, at, at + n, axis=axis))
        at += n
    return parts


@_rule("slice")
def _slice(ct, equation, operands, result):
    shape, starts = equation.invars[0].aval.shape, equation.params["start_indices"]
    steps = equation.params["strides"] or (1,) * len(shape)
    spans = [
        start + (n - 1) * step + 1 if n else start
        for start, n, step in zip(starts, ct.shape, steps, strict=True)
    ]
    edges = zip(starts, shape, spans, steps, strict=True)
    return [lax.pad(ct, _n(ct, 0), [(start, n - span, step - 1) for start, n, span, step in edges])]


@_rule("select_n", fits=lambda equation: len(equation.invars) == 3 and is_inexact(equation.outvars[0].aval))
def _select(ct, equation, operands, result):
    zeros = lax.full_like(ct, 0)
    pair = lax.select_n(operands[0], ct, zeros), lax.select_n(operands[0], zeros, ct)
    return [
        None,
        *[None if is_literal(v) else part for v, part in zip(equation.invars[1:], pair, strict=True)],
    ]


@_rule("gather", fits=_inexact_result)
def _gather(ct, equation, operands, result):
    dims, params = equation.params["dimension_numbers"], equation.params
    places = lax.ScatterDimensionNumbers(
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
            places,
            indices_are_sorted=params["indices_are_sorted"],
            unique_indices=params["unique_indices"],
            mode=params["mode"],
        ),
        None,
    ]


def _plain_product(equation):
    """Whether a product is one of operands of one dtype, summed in that dtype."""
    wanted = equation.params.get("preferred_element_type")
    dtypes = {v.aval.dtype for v in (*equation.invars, *equation.outvars)} | (
        {np.dtype(wanted)} if wanted is not None else set()
    )
    return len(dtypes) == 1 and equation.params.get("out_sharding") is None


@_rule("dot_general", fits=_plain_product)
def _dot(ct, equation, operands, result):
    (contracted, batch), params = equation.params["dimension_numbers"], equation.params
    x, y = operands
    precision = params["precision"]
    turned = precision[::-1] if isinstance(precision, tuple) else precision
    kept = [_free_axes(a.ndim, contracted[i], batch[i]) for i, a in enumerate(operands)]
    n = len(batch[0])
    rows, columns = range(n, n + len(kept[0])), range(n + len(kept[0]), ct.ndim)
    wanted = params["preferred_element_type"]
    # of the cotangent: batch axes, those kept of x, those kept of y
    of_x = lax.dot_general(
        ct, y, ((columns, kept[1]), (range(n), batch[1])), precision=precision, preferred_element_type=wanted
    )
    of_y = lax.dot_general(
        ct, x, ((rows, kept[0]), (range(n), batch[0])), precision=turned, preferred_element_type=wanted
    )
    return [
        _restore_axes(of_x, batch[0], kept[0], contracted[0], contracted[1]),
        _restore_axes(of_y, batch[1], kept[1], contracted[1], contracted[0]),
    ]


def _free_axes(ndim, contracted, batch):
    return [axis for axis in range(ndim) if axis not in contracted and axis not in batch]


def _restore_axes(product, batch, kept, contracted, partner):
    """The gradient of an operand in the order of its axes. Behind batch and kept axes it has those
    contracted, in the order of the partner's axes."""
    order = [*batch, *kept, *[contracted[i] for i in np.argsort(partner)]]
    return product if order == sorted(order) else lax.transpose(product, np.argsort(order))
