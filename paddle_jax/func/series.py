"""Taylor mode: a program run on truncated series instead of numbers.

Each operation is carried out by its rule in `jax.experimental.jet`. Where there is none, or where the
operation has a derivative rule of its own (`jax.custom_jvp`, which jet would leave out), the series of its
result comes from forward mode over forward mode along the curve, for this one operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import jet

from paddle_jax._core.kernels.dependence import CALLS, is_literal, open_jaxpr

# Linear in their one operand: each term of the series goes through as it is.
_LINEAR = {
    "neg",
    "reshape",
    "broadcast_in_dim",
    "transpose",
    "reduce_sum",
    "slice",
    "squeeze",
    "copy",
    "rev",
    "real",
    "imag",
    "expand_dims",
}
_BILINEAR = {"mul", "dot_general"}  # linear in one operand when the other is a constant
_ADDITIVE = {"add", "sub", "add_any"}


def series(jaxpr: Any, consts: Any, inputs: Any, order: Any) -> list[tuple[Any, None] | Any]:
    """Runs a jaxpr on series.

    inputs: (primal, terms) of each input; terms are the derivatives 1..order along the curve, None for zeros;
    None in place of terms for a constant. Returns the same of each output.
    """
    known = dict(zip(jaxpr.constvars, [(c, None) for c in consts], strict=True)) | dict(
        zip(jaxpr.invars, inputs, strict=True)
    )

    def read(v: Any) -> tuple[Any, ...]:
        if is_literal(v):
            # A literal is a constant.
            return (v.val, None)
        return known[v]

    for eqn in jaxpr.eqns:
        results = _step(eqn, [read(v) for v in eqn.invars], order)
        known.update(zip(eqn.outvars, results, strict=True))
    return [read(v) for v in jaxpr.outvars]


def _step(eqn: Any, operands: Sequence[Any], order: int) -> list[Any]:
    primals = [p for p, _ in operands]
    # Operands that depend on the curve.
    moving = [i for i, (_, terms) in enumerate(operands) if terms is not None]
    name = eqn.primitive.name
    params = eqn.params

    def apply(*values: Any) -> list[jax.Array]:
        out = eqn.primitive.bind(*values, **eqn.primitive.get_bind_params(params))
        if eqn.primitive.multiple_results:
            return out
        return [out]

    # Nothing moves: the result is a constant as well.
    if not moving or name == "stop_gradient":
        return [(p, None) for p in apply(*primals)]
    # A call, such as of a compiled function: its jaxpr is run on the series.
    if name in CALLS and params.get("jaxpr") is not None:
        return series(*open_jaxpr(params["jaxpr"]), operands, order)
    # Linear in the one operand that moves.
    if name in _LINEAR or (name in _BILINEAR and len(moving) == 1) or (name == "div" and moving == [0]):
        return [
            (
                apply(*primals)[0],
                [t if t is None else apply(*_with(primals, moving, [t]))[0] for t in operands[moving[0]][1]],
            )
        ]
    # Linear in both together: terms are added one by one.
    if name in _ADDITIVE:
        return [(apply(*primals)[0], [_sum(name, operands, j, apply) for j in range(order)])]
    return _general(apply, primals, moving, [full_terms(*operands[i]) for i in moving], order, eqn)


def _with(primals: Sequence[jax.Array], moving: Sequence[int], values: Sequence[jax.Array]) -> list[Any]:
    full = list(primals)
    for i, value in zip(moving, values, strict=True):
        full[i] = value
    return full


def full_terms(primal: jax.Array, terms: Sequence[jax.Array | None]) -> list[jax.Array | Any]:
    """Terms with an array of zeros for each None."""
    return [jnp.zeros_like(primal) if t is None else t for t in terms]


def _sum(name: str, operands: Sequence[Any], j: int, apply: Callable[..., Any]) -> jax.Array | None:
    """Term j of a sum or difference."""
    one, two = [None if terms is None else terms[j] for _, terms in operands]
    if two is None:
        return one
    # The second operand of a difference alone has its sign changed.
    if one is None and name == "sub":
        one = jnp.zeros_like(operands[0][0])
    if one is None:
        return two
    return apply(one, two)[0]


def _general(
    apply: Callable[..., Any],
    primals: Sequence[jax.Array],
    moving: Sequence[int],
    terms: Sequence[Any],
    order: int,
    eqn: Any,
) -> list[tuple[Any, None]] | list[tuple[Any, Any]] | list[tuple[Any, list[Any]]]:
    def moved(*values: Any) -> list[jax.Array]:
        return apply(*_with(primals, moving, values))

    start = [primals[i] for i in moving]
    # Comparisons, indices: whole numbers have no derivative.
    if all(not jnp.issubdtype(v.aval.dtype, jnp.inexact) for v in eqn.outvars):
        return [(p, None) for p in moved(*start)]
    # jet leaves out rules that users give by `custom_jvp`.
    if not eqn.primitive.name.startswith("custom_") and eqn.primitive in jet.jet_rules:
        out, series_out = jet.jet(moved, start, terms)
        return list(zip(out, series_out, strict=True))
    derivatives = along(
        lambda t: moved(*[_point(x, ts, t) for x, ts in zip(start, terms, strict=True)]), order
    )
    # the value on its own: a batch of curves shares it
    return [(p, [d[k] for d in derivatives]) for k, p in enumerate(moved(*start))]


def _point(primal: jax.Array, terms: Sequence[jax.Array], t: jax.Array) -> jax.Array:
    """The curve at t."""
    return primal + sum(
        # Taylor's formula: term j is the derivative of order j + 1.
        (term * (t ** (j + 1) / math.factorial(j + 1)).astype(term.dtype) for j, term in enumerate(terms)),
        jnp.zeros_like(primal),
    )


def along(curve: Callable[..., Any], order: Any) -> tuple[Any, ...]:
    """[derivatives of all results for each order] of a function of one number at 0, by forward mode
    over forward mode."""

    # level(k) gives the value and the first k derivatives: `jax.jvp` of level(k - 1).
    def level(k: Any) -> Callable[..., Any]:
        if k == 0:
            return lambda t: (tuple(curve(t)), ())

        def computed(t: jax.Array) -> tuple[Any, ...]:
            (values, lower), (first, higher) = jax.jvp(level(k - 1), (t,), (jnp.ones_like(t),))
            return values, (first, *higher)

        return computed

    return level(order)(jnp.zeros((), jnp.float64))[1]
