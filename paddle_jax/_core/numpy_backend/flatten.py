"""Flattens a closed jaxpr to one list of equations over numbered slots.

Inner calls are inlined, and equations that no result needs are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.base.symbolic_dims import LengthNumber
from paddle_jax._core.kernels.jaxpr_filling import with_literal_numbers
from paddle_jax._core.numpy_backend.rules import Refusal

# primitives that stand for the jaxpr among their parameters; the names differ between versions of JAX
CALLS = frozenset(
    (
        "call",
        "checkpoint",
        "closed_call",
        "core_call",
        "core_closed_call",
        "custom_jvp_call",
        "custom_vjp_call",
        "custom_vjp_call_jaxpr",
        "eval_jaxpr",
        "jit",
        "pjit",
        "remat",
        "remat2",
        "remat_call",
        "xla_call",
    )
)
INNER = ("jaxpr", "call_jaxpr", "fun_jaxpr")


class Flat:
    """Equations over slots. Slots 0 .. arity - 1 are the operands.

    Attributes:
        avals: list of the avals of all slots.
        constants: dict from slots to read-only arrays.
        equations: list of (primitive, params, in slots, out slots, in avals, out avals).
        results: list of the slots of the results.
        arity: int, number of operands.
        lengths: dict from slots to LengthNumbers, the constants that are computed from symbolic lengths.
        is_symbolic: bool, whether lengths may be symbolic.
    """

    __slots__ = ("arity", "avals", "constants", "equations", "is_symbolic", "lengths", "results")

    def __init__(self, is_symbolic: bool = False) -> None:
        self.avals: list[Any] = []
        self.constants: dict[int, np.ndarray] = {}
        self.equations: list[tuple[Any, ...]] = []
        self.results: list[int] = []
        self.arity = 0
        self.lengths: dict[int, LengthNumber] = {}
        self.is_symbolic = is_symbolic

    def slot(self, aval: Any) -> int:
        """A new slot."""
        self.avals.append(aval)
        return len(self.avals) - 1

    def with_literals(self, jaxpr: Any) -> Any:
        """A jaxpr in which numbers computed from lengths are literals."""
        if self.is_symbolic:
            return with_literal_numbers(jaxpr)
        return jaxpr

    def constant(self, value: Any, aval: Any) -> int:
        """The slot of a constant, as a read-only array."""
        slot = self.slot(aval)
        if type(value) is LengthNumber:
            self.lengths[slot] = value
        else:
            self.constants[slot] = read_only(value, aval.dtype)
        return slot


def read_only(value: Any, dtype: Any) -> np.ndarray:
    """A constant as an array. All runs share it, so no rule may write into it."""
    if isinstance(dtype, np.dtype):
        value = np.asarray(value, dtype)
    else:
        value = np.asarray(value)
    if value.flags.writeable:
        value = value.view()
        value.flags.writeable = False
    return value


def flatten(closed: Any, is_symbolic: bool = False) -> Flat:
    """The equations of a closed jaxpr that its results need.

    Args:
        closed: the jaxpr.
        is_symbolic: whether its lengths may be symbolic.
    """
    jaxpr, consts = open_jaxpr(closed)
    if jaxpr.effects:
        raise Refusal(f"effects: {', '.join(sorted(map(str, jaxpr.effects)))}")
    flat = Flat(is_symbolic)
    operands = [flat.slot(v.aval) for v in jaxpr.invars]
    flat.arity = len(operands)
    flat.results = _inline(flat, jaxpr, consts, operands)
    _mask_products(flat)
    _mask_selections(flat)
    drop_dead(flat)
    return flat


def open_jaxpr(closed: Any) -> tuple[Any, Any]:
    """(jaxpr, constants) of a jaxpr, closed or not."""
    inner = getattr(closed, "jaxpr", None)
    if inner is None or not hasattr(closed, "consts"):
        return (closed, ())
    return (inner, closed.consts)


def _inline(flat: Flat, jaxpr: Any, consts: Any, operands: list[int]) -> list[int]:
    """Appends the equations of a jaxpr, and of those it calls; gives the slots of its results."""
    jaxpr = flat.with_literals(jaxpr)
    env = dict(zip(jaxpr.invars, operands, strict=True))
    for v, c in zip(jaxpr.constvars, consts, strict=True):
        env[v] = flat.constant(c, v.aval)

    def read(v: Any) -> int:
        # A literal has its value, a variable a slot.
        if hasattr(v, "val"):
            return flat.constant(v.val, v.aval)
        return env[v]

    for equation in jaxpr.eqns:
        ins = [read(v) for v in equation.invars]
        name = equation.primitive.name
        if name.startswith("random_") and not equation.ctx.threefry_partitionable:
            raise Refusal("random numbers whose counters have JAX's old order are compiled")
        if name in CALLS:
            outs = _inline(flat, *_callee(equation), ins)
        elif name == "call_hi_primitive":
            outs = _inline(flat, *_expanded(equation, flat.is_symbolic), ins)
        elif name == "custom_linear_solve":
            outs = _inline(flat, *_solver(equation, ins))
        else:
            outs = [flat.slot(v.aval) for v in equation.outvars]
            avals = [v.aval for v in equation.invars], [v.aval for v in equation.outvars]
            flat.equations.append((equation.primitive, equation.params, ins, outs, *avals))
        env.update(zip(equation.outvars, outs, strict=True))
    return [read(v) for v in jaxpr.outvars]


def _callee(equation: Any) -> tuple[Any, Any]:
    """(jaxpr, constants) that a call runs; a call whose parameters do not match its operands is refused."""
    for name in INNER:
        if name in equation.params:
            jaxpr, consts = open_jaxpr(equation.params[name])
            if (
                len(jaxpr.invars) == len(equation.invars)
                and len(jaxpr.outvars) == len(equation.outvars)
                and len(jaxpr.constvars) == len(consts)
            ):
                return jaxpr, consts
    raise Refusal(f"primitive '{equation.primitive.name}': its inner jaxpr was not found")


def _expanded(equation: Any, is_symbolic: bool) -> tuple[Any, Any]:
    """(jaxpr, constants) of what a primitive of JAX 0.12 that is defined by others stands for."""
    import jax

    if is_symbolic:
        raise Refusal("a trace for symbolic lengths")

    lower = getattr(equation.primitive, "to_lojax", None)
    if lower is None:
        raise Refusal(f"primitive '{equation.primitive.name}': what it stands for was not found")
    try:
        operands = [
            jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype, weak_type=v.aval.weak_type)
            for v in equation.invars
        ]
        closed = jax.make_jaxpr(lambda *xs: lower(*xs, **equation.params))(*operands)
    except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
        raise Refusal(f"primitive '{equation.primitive.name}': {type(error).__name__}: {error}") from error
    if [v.aval.str_short() for v in closed.jaxpr.outvars] != [v.aval.str_short() for v in equation.outvars]:
        raise Refusal(f"primitive '{equation.primitive.name}': what it stands for has other results")
    return open_jaxpr(closed)


def _solver(equation: Any, ins: list[int]) -> tuple[Any, Any, list[int]]:
    """(jaxpr, constants, operands) of what solves a linear system: the other functions are for
    its derivatives."""
    jaxprs = equation.params["jaxprs"]
    lengths = equation.params["const_lengths"]
    # The constants of the products with the matrix come first.
    start = lengths.matvec + lengths.vecmat
    total = start + lengths.solve + lengths.transpose_solve
    return *open_jaxpr(jaxprs.solve), ins[start : start + lengths.solve] + ins[total:]


class MaskedProduct:
    """Stands for a primitive: the product of a number and a truth value."""

    name = "masked_product"
    multiple_results = False


def _mask_products(flat: Flat) -> None:
    """Makes products with a truth value selections, as XLA's simplifier does: where it is false the result is
    0 also for infinity and NaN."""
    truths = {}
    for n, (primitive, params, ins, outs, in_avals, out_avals) in enumerate(flat.equations):
        if (
            primitive.name == "convert_element_type"
            and in_avals[0].dtype == np.bool_
            and out_avals[0].dtype.kind in "fc"
        ):
            truths[outs[0]] = ins[0], in_avals[0]
        elif primitive.name == "mul" and truths:
            side = next((k for k in (0, 1) if ins[k] in truths), None)
            if side is not None:
                slot, aval = truths[ins[side]]
                flat.equations[n] = (
                    MaskedProduct,
                    params,
                    [ins[1 - side], slot],
                    outs,
                    [in_avals[1 - side], aval],
                    out_avals,
                )


class MaskedSelection:
    """Stands for a primitive: a number where a truth value is false, else 0."""

    name = "masked_selection"
    multiple_results = False


def _mask_selections(flat: Flat) -> None:
    """Finds selections between a number and 0, as in the gradient of a selection.

    A mask over the bits of the number computes them.
    """
    zeros = {slot for slot, value in flat.constants.items() if _is_zero(value)}
    for n, (primitive, params, ins, outs, in_avals, out_avals) in enumerate(flat.equations):
        if primitive.name == "broadcast_in_dim" and ins[0] in zeros:
            # Zeros that fill a shape are zeros, too.
            zeros.add(outs[0])
        if primitive.name != "select_n" or len(ins) != 3 or in_avals[0].dtype != np.bool_:
            continue
        which, no, yes = ins
        if no in zeros:
            replacement: Any = MaskedProduct
            number = 2
        elif yes in zeros:
            replacement = MaskedSelection
            number = 1
        else:
            continue
        # A mask that broadcasts is left to the general rule.
        if in_avals[0].shape == out_avals[0].shape:
            operands = [ins[number], which]
            avals = [in_avals[number], in_avals[0]]
            flat.equations[n] = (replacement, params, operands, outs, avals, out_avals)


def _is_zero(value: np.ndarray) -> bool:
    """Whether a constant is one 0 that is not negative."""
    return value.size == 1 and value.dtype.kind in "fiu" and not value.view(f"u{value.itemsize}").any()


def drop_dead(flat: Flat) -> None:
    """Leaves out the equations and constants that no result needs."""
    needed = set(flat.results)
    kept = []
    # Backwards: what a needed equation reads is needed, too.
    for equation in reversed(flat.equations):
        if not needed.isdisjoint(equation[3]):
            kept.append(equation)
            needed.update(equation[2])
    flat.equations = kept[::-1]
    flat.constants = {slot: array for slot, array in flat.constants.items() if slot in needed}
