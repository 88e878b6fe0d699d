"""Which operands of a kernel its results change smoothly with: a gradient flows nowhere else, so the tape
need not go there.

The gradient of `add` does not depend on the operands of `add` at all, that of `relu` only through a
comparison. Without this, every derivative of a derivative would carry zeros through the whole graph below.
"""

import jax.numpy as jnp

# derivative zero wherever there is one
PIECEWISE_CONSTANT = frozenset(("sign", "floor", "ceil", "round", "stop_gradient"))
# primitives that run the jaxpr they hold, as it stands
CALLS = frozenset(("jit", "pjit", "closed_call", "core_call", "remat", "checkpoint"))


def gradient_mask(kernel, avals) -> int:
    """Bit i is set when a result of the kernel may have a derivative by operand i other than zero."""
    masks = propagate_masks(kernel.trace(avals).jaxpr, [1 << i for i in range(len(avals))])
    found = 0
    for mask in masks:
        found |= mask
    return found


def propagate_masks(jaxpr, masks):
    """The masks of the results of a jaxpr from those of its inputs. Numbers that are no
    floats carry nothing."""
    known = {v: mask for v, mask in zip(jaxpr.invars, masks, strict=True) if _inexact(v)}

    def of(v):
        return 0 if is_literal(v) else known.get(v, 0)

    for equation in jaxpr.eqns:
        name, given = equation.primitive.name, [of(v) for v in equation.invars]
        if name in PIECEWISE_CONSTANT or not any(given):
            continue
        if name in CALLS:
            made = propagate_masks(open_jaxpr(equation.params["jaxpr"])[0], given)
        else:
            together = 0
            for mask in given:
                together |= mask
            made = [together] * len(equation.outvars)
        known.update(
            (v, mask) for v, mask in zip(equation.outvars, made, strict=True) if mask and _inexact(v)
        )
    return [of(v) for v in jaxpr.outvars]


def open_jaxpr(jaxpr):
    """A jaxpr, closed or not, and its constants."""
    return (jaxpr.jaxpr, jaxpr.consts) if hasattr(jaxpr, "consts") else (jaxpr, ())


def holds_jaxpr(value):
    """Whether a parameter of an equation is a program, or a list of some."""
    if isinstance(value, tuple | list):
        return any(map(holds_jaxpr, value))
    return hasattr(getattr(value, "jaxpr", value), "eqns")


def variables(jaxpr):
    """The variables of constants and operands, in this order. In JAX 0.12 constants that are not attached
    count as operands."""
    return [*jaxpr.constvars, *jaxpr.invars]


def is_literal(v) -> bool:
    """Whether an operand in a jaxpr is a literal; the classes are in jax.extend.core, which takes
    0.1 s to import."""
    return hasattr(v, "val")


def _inexact(v):
    return jnp.issubdtype(v.aval.dtype, jnp.inexact)
