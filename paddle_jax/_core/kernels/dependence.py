"""Finds the operands on which the results of a kernel depend smoothly.

A gradient flows nowhere else, so the tape need not go there. The gradient of `add` does not depend on the
operands of `add` at all, that of `relu` only by a comparison. Without this, every derivative of a derivative
would carry zeros through the whole graph below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jax.core import ShapedArray

if TYPE_CHECKING:
    from paddle_jax._core.kernels.kernel import Kernel
    from paddle_jax._core.lazy.aval import Aval

_MAX_PLAIN_AVALS = 4096
# avals of which `is_plain` is true, by id; an entry keeps its aval alive, so that the id stays its own
_plain_avals: dict[int, Any] = {}
# primitives with derivative zero wherever there is one
PIECEWISE_CONSTANT = frozenset(("sign", "floor", "ceil", "round", "stop_gradient"))
# primitives that run the jaxpr they hold, as it stands
CALLS = frozenset(("jit", "pjit", "closed_call", "core_call", "remat", "checkpoint"))


def gradient_mask(kernel: Kernel, avals: tuple[Aval, ...]) -> int:
    """Bit i is set if a result of the kernel may have a derivative by operand i other than zero."""
    operand_masks = [1 << i for i in range(len(avals))]
    return _union(propagate_masks(kernel.trace(avals).structure, operand_masks))


def unread_operands(jaxpr: Any) -> list[int]:
    """The numbers of the operands that no result depends on in any way."""
    _, read = _needed(jaxpr)
    return [i for i, v in enumerate(jaxpr.invars) if v not in read]


def has_loop(jaxpr: Any) -> bool:
    """Whether equations contain a loop. XLA cannot merge it with the same loop in the gradient, which
    computes it again."""
    return any(equation.primitive.name in ("scan", "while") for equation in jaxpr.eqns)


def without_unread_equations(jaxpr: Any) -> Any:
    """A jaxpr without the equations that no result depends on."""
    equations, _ = _needed(jaxpr)
    if len(equations) == len(jaxpr.eqns):
        return jaxpr
    return jaxpr.replace(eqns=equations)


def _needed(jaxpr: Any) -> tuple[list[Any], set[Any]]:
    """The equations that the results depend on, and the variables that these and the results read."""
    read = {v for v in jaxpr.outvars if not is_literal(v)}
    needed = []
    for equation in reversed(jaxpr.eqns):
        # An effect happens whether or not a result is read.
        if equation.effects or not read.isdisjoint(equation.outvars):
            needed.append(equation)
            read.update(v for v in equation.invars if not is_literal(v))
    needed.reverse()
    return needed, read


def _union(masks: Sequence[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def propagate_masks(jaxpr: Any, masks: Sequence[int]) -> list[int]:
    """The masks of a jaxpr's results from those of its inputs. Other numbers than floats carry nothing."""
    known = {v: mask for v, mask in zip(jaxpr.invars, masks, strict=True) if _is_inexact(v)}

    def mask_of(v: Any) -> int:
        if is_literal(v):
            return 0
        return known.get(v, 0)

    for equation in jaxpr.eqns:
        name = equation.primitive.name
        in_masks = [mask_of(v) for v in equation.invars]
        # A derivative of zero carries nothing on.
        if name in PIECEWISE_CONSTANT or not any(in_masks):
            continue
        if name in CALLS:
            inner, _ = open_jaxpr(equation.params["jaxpr"])
            out_masks = propagate_masks(inner, in_masks)
        else:
            out_masks = [_union(in_masks)] * len(equation.outvars)
        for v, mask in zip(equation.outvars, out_masks, strict=True):
            if mask and _is_inexact(v):
                known[v] = mask
    return [mask_of(v) for v in jaxpr.outvars]


def open_jaxpr(jaxpr: Any) -> tuple[Any, Sequence[Any]]:
    """A jaxpr, closed or not, and its constants."""
    if hasattr(jaxpr, "consts"):
        return (jaxpr.jaxpr, jaxpr.consts)
    return (jaxpr, ())


def holds_jaxpr(value: Any) -> bool:
    """Whether a parameter of an equation is a jaxpr, or a list of some."""
    if isinstance(value, tuple | list):
        return any(map(holds_jaxpr, value))
    return hasattr(getattr(value, "jaxpr", value), "eqns")


def inner_jaxprs(equation: Any) -> Iterator[Any]:
    """The jaxprs in the parameters of an equation."""
    for value in equation.params.values():
        for each in value if isinstance(value, tuple | list) else (value,):
            # A ClosedJaxpr, or a Jaxpr as it is.
            inner = getattr(each, "jaxpr", each)
            if hasattr(inner, "eqns"):
                yield inner


def variables(jaxpr: Any) -> list[Any]:
    """The variables of constants and operands, in this order. In JAX 0.12 constants that are not attached
    count as operands."""
    return [*jaxpr.constvars, *jaxpr.invars]


def is_plain(aval: Any) -> bool:
    """Whether an aval has a shape, a dtype and a weak type only. JAX has one object for equal ones."""
    if _plain_avals.get(id(aval)) is aval:
        return True
    if type(aval) is not ShapedArray or aval is not ShapedArray(aval.shape, aval.dtype, aval.weak_type):
        return False
    if len(_plain_avals) >= _MAX_PLAIN_AVALS:
        _plain_avals.clear()
    _plain_avals[id(aval)] = aval
    return True


def is_literal(v: Any) -> bool:
    """Whether an operand in a jaxpr is a literal; importing its class from jax.extend.core takes 0.1 s."""
    return hasattr(v, "val")


def _is_inexact(v: Any) -> bool:
    return jnp.issubdtype(v.aval.dtype, jnp.inexact)
