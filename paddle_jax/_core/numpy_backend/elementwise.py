"""Arithmetic, comparison and elementary functions. Rounding, NaN and the sign of zero follow
XLA's CPU compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.complex_numbers import complex_function, complex_quotient, complex_square
from paddle_jax._core.numpy_backend.integers import quotient, remainder
from paddle_jax._core.numpy_backend.rules import (
    Avals,
    Params,
    Refusal,
    Run,
    compute_dtype,
    define_rule,
    in_compute_dtype,
    rule,
    size_of,
    with_into,
)

_LEAST_MASKED = 1 << 12  # elements
_LEAST_BLENDED = 1 << 13  # elements
PLAIN = {
    "add": np.add,
    "add_any": np.add,
    "sub": np.subtract,
    "neg": np.negative,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "is_finite": np.isfinite,
    "abs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
}
ELEMENTARY = {
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "atan2": np.arctan2,
    "sqrt": np.sqrt,
}
# Primitives that compute each element of one result from those of the operands at its position.
ELEMENTWISE = frozenset(
    (*PLAIN, *ELEMENTARY, "mul", "max", "min", "square", "one_minus_square", "logistic", "div", "rsqrt")
)
for _name, _ufunc in PLAIN.items():
    define_rule(_ufunc, _name)


def _elementary(name: str, ufunc: Any) -> None:
    @rule(name, of_any_lengths=True)
    def build(params: Params, ins: Avals, outs: Avals) -> Run:
        if outs[0].dtype.kind == "c":
            return complex_function(name, ufunc, outs[0].dtype)
        return in_compute_dtype(ufunc, ins, outs[0])


for _name, _ufunc in ELEMENTARY.items():
    _elementary(_name, _ufunc)


@rule(
    "copy",
    "copy_p",
    "stop_gradient",
    "device_put",
    "name",
    "reduced_vary",
    "pvary",
    "sharding_constraint",
    "layout_constraint",
    of_any_lengths=True,
)
def _identity(params: Params, ins: Avals, outs: Avals) -> Run:
    if len(outs) != 1:
        return lambda *operands: operands
    multiple = "devices" in params  # device_put gives a list
    if multiple:
        return lambda x: (x,)
    return lambda x: x


define_rule(lambda *operands: operands, "optimization_barrier")


@rule("mul", of_any_lengths=True)
def _mul(params: Params, ins: Avals, outs: Avals) -> Run:
    if any(a.dtype != outs[0].dtype for a in ins):  # the parameter out_dtype of newer versions
        raise Refusal("a product of another dtype than its factors is compiled")
    return np.multiply


def _bound(name: str, ufunc: Any) -> None:
    @rule(name, of_any_lengths=True)
    def build(params: Params, ins: Avals, outs: Avals) -> Run:
        if outs[0].dtype.kind == "c":
            raise Refusal(f"{name} of complex numbers is compiled")  # NumPy and XLA order NaN differently
        return ufunc


_bound("max", np.maximum)
_bound("min", np.minimum)


@rule("square", of_any_lengths=True)
def _square(params: Params, ins: Avals, outs: Avals) -> Run:
    if outs[0].dtype.kind != "c":
        return np.square
    return complex_square


@rule("one_minus_square", of_any_lengths=True)
def _one_minus_square(params: Params, ins: Avals, outs: Avals) -> Run:
    """1 - x^2 as (1 + x)(1 - x), which is precise next to one."""
    one = np.ones((), outs[0].dtype)
    return lambda x: (one + x) * (one - x)


@rule("polynomial")
def _polynomial(params: Params, ins: Avals, outs: Avals) -> Run:
    """Horner's rule; JAX runs long ones as a loop that starts from zero, so that infinity gives NaN."""
    unroll = params.get("unroll")
    loop = len(ins) - 1 > (8 if unroll is None else unroll)
    shape, zero = outs[0].shape, np.zeros((), outs[0].dtype)

    def horner(x: np.ndarray, *coefficients: Any) -> Any:
        y = zero * x + coefficients[-1] if loop else coefficients[-1]
        for c in coefficients[-2::-1]:
            y = y * x + c
        if np.shape(y) == shape:
            return y
        return np.broadcast_to(y, shape)

    return horner


@rule("masked_product")
def _masked_product(params: Params, ins: Avals, outs: Avals) -> Run:
    if _has_quick_bits(ins[1], outs[0], _LEAST_MASKED) and ins[0].shape == ins[1].shape:
        return _masked(outs[0].dtype, np.negative)  # -1 is a mask of ones
    zero = np.zeros((), outs[0].dtype)
    return lambda x, truth: np.where(truth, x, zero)


@rule("masked_selection")
def _masked_selection(params: Params, ins: Avals, outs: Avals) -> Run:
    if _has_quick_bits(ins[1], outs[0], _LEAST_MASKED):
        # All bits are set where it is false.
        return _masked(outs[0].dtype, lambda truth: np.subtract(truth, np.int8(1)))
    zero = np.zeros((), outs[0].dtype)
    return lambda x, truth: np.where(truth, zero, x)


def _has_quick_bits(truth: Any, out: Any, least: int) -> bool:
    """Whether selection by bits is quicker than `np.where`, from this number of elements."""
    return size_of(truth) == size_of(out) >= least and out.dtype.kind in "fiu" and out.dtype.itemsize >= 4


def _masked(dtype: np.dtype, mask_of: Any) -> Any:
    """The bits of a number under a mask that is made of a truth value as an int8."""
    bits = np.dtype(f"i{dtype.itemsize}")

    def masked(x: Any, truth: Any) -> Any:
        chosen = mask_of(truth.view(np.int8)).astype(bits)
        chosen &= x.view(bits)
        return chosen.view(dtype)

    return masked


@rule("exp2", of_any_lengths=True)
def _exp2(params: Params, ins: Avals, outs: Avals) -> Run:
    """JAX's definition, exp(x log 2), with its error of some units in the last place."""
    factor = np.log(2.0).astype(outs[0].dtype)
    return lambda x: np.exp(x * factor)


@rule("log2", of_any_lengths=True)
def _log2(params: Params, ins: Avals, outs: Avals) -> Run:
    """JAX's definition, log(x) / log 2, with the error of the product."""
    dtype = outs[0].dtype
    factor = np.asarray(1.4426950408889634).astype(ins[0].dtype)
    if dtype.kind == "c":
        log = complex_function("log", np.log, dtype)
        real_factor: Any = factor.real  # pyright: ignore[reportAttributeAccessIssue]

        def log2(x: np.ndarray) -> np.ndarray:
            parts = log(x).reshape(x.shape + (1,)).view(real_factor.dtype)
            return (parts * real_factor).view(dtype).reshape(x.shape)

        return log2
    return lambda x: np.log(x) * factor


@rule("sign", of_any_lengths=True)
def _sign(params: Params, ins: Avals, outs: Avals) -> Run:
    kind = outs[0].dtype.kind
    if kind in "fV":
        return lambda x: np.copysign(np.sign(x), x)  # np.sign loses the sign of zero
    return np.sign


@rule("rsqrt", of_any_lengths=True)
def _rsqrt(params: Params, ins: Avals, outs: Avals) -> Run:
    one = np.ones((), compute_dtype(outs[0].dtype))
    if outs[0].dtype.kind == "c":
        return complex_function("rsqrt", lambda x: 1 / np.sqrt(x), outs[0].dtype)
    return in_compute_dtype(lambda x: one / np.sqrt(x), ins, outs[0])


@rule("logistic", of_any_lengths=True)
def _logistic(params: Params, ins: Avals, outs: Avals) -> Run:
    if outs[0].dtype == np.float16:  # XLA rounds each step, and exp(-x) overflows
        return lambda x: np.float16(1) / (np.float16(1) + np.exp(-x))
    one = np.ones((), compute_dtype(outs[0].dtype))

    def logistic(x: Any) -> Any:
        return one / (one + np.exp(-x))

    def into(x: Any, out: np.ndarray) -> np.ndarray:
        np.negative(x, out)
        np.exp(out, out)
        np.add(one, out, out)
        return np.divide(one, out, out)

    if one.dtype == outs[0].dtype:
        return with_into(logistic, into)
    return in_compute_dtype(logistic, ins, outs[0])


@rule("integer_pow")
def _integer_pow(params: Params, ins: Avals, outs: Avals) -> Run:
    y = params["y"]
    dtype = outs[0].dtype
    if y == 2:
        return lambda x: x * x
    if y == 0:
        return lambda x: np.ones(outs[0].shape, dtype)
    one = np.ones((), compute_dtype(outs[0].dtype))

    def power(x: np.ndarray) -> Any:
        # By squares: as many products as the exponent has bits.
        product = None
        n = abs(y)
        while n:
            if n & 1:
                product = x if product is None else product * x
            n >>= 1
            # A square after the last bit would not be read.
            if n:
                x = x * x
        if y < 0:
            return one / product
        return product

    return in_compute_dtype(power, ins, outs[0])


@rule("pow", of_any_lengths=True)
def _pow(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = outs[0].dtype
    if dtype.kind not in "fVc":
        raise Refusal("pow of integers is compiled")
    if dtype.kind == "c":
        raise Refusal("pow of complex numbers is compiled")  # infinities and zeros differ
    if ins[1].dtype.kind in "iu":
        return lambda x, y: np.power(x.astype(np.float64), y).astype(dtype)
    return in_compute_dtype(np.power, ins, outs[0])


@rule("round", of_any_lengths=True)
def _round(params: Params, ins: Avals, outs: Avals) -> Run:
    if int(params["rounding_method"]) == 1:  # to the nearest even number
        return np.rint
    half = outs[0].dtype.type(0.5)

    def away_from_zero(x: np.ndarray) -> Any:
        whole = np.trunc(x)
        return np.copysign(
            np.where(np.abs(x - whole) >= half, whole + np.copysign(outs[0].dtype.type(1), x), whole), x
        )

    return away_from_zero


define_rule(lambda low, x, high: np.minimum(np.maximum(x, low), high), "clamp")


define_rule(lambda x, y: np.where(x == y, y, np.nextafter(x, y)), "nextafter")


def _blend(dtype: np.dtype) -> Any:
    """Selection by bits: on truth values without order `np.where` guesses a branch for each, which takes
    five times as long."""
    bits = np.dtype(f"i{dtype.itemsize}")

    def blend(which: Any, no: Any, yes: Any) -> Any:
        # All bits are set where it is true.
        mask = np.negative(which.view(np.int8)).astype(bits)
        no = no.view(bits)
        yes = yes.view(bits)
        # no ^ ((no ^ yes) & mask) is `yes` where the mask is set.
        chosen = no ^ yes
        chosen &= mask
        chosen ^= no
        return chosen.view(dtype)

    return blend


@rule("select_n")
def _select(params: Params, ins: Avals, outs: Avals) -> Run:
    if len(ins) == 2:
        return lambda which, only: only
    if ins[0].dtype == bool:
        dtype = outs[0].dtype
        if _has_quick_bits(ins[0], outs[0], _LEAST_BLENDED):
            return _blend(dtype)
        return lambda which, no, yes: np.where(which, yes, no)

    def choose(which: Any, *cases: Any) -> Any:
        chosen = cases[-1]
        # From the last case down, so that lower ones overrule it.
        for k in range(len(cases) - 2, -1, -1):
            chosen = np.where(which <= k, cases[k], chosen)
        return chosen

    return choose


@rule("div", of_any_lengths=True)
def _div(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = outs[0].dtype
    if dtype.kind == "c":
        return complex_quotient(dtype)
    if dtype.kind in "fV":
        return np.divide
    return quotient(dtype)


@rule("rem", of_any_lengths=True)
def _rem(params: Params, ins: Avals, outs: Avals) -> Run:
    dtype = outs[0].dtype
    if dtype.kind in "fV":
        return in_compute_dtype(np.fmod, ins, outs[0])
    return remainder(dtype)
