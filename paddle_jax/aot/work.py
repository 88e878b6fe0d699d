"""What a traced program computes: its floating-point operations by dtype and precision, and what a platform
has no rule for."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import jax
from jax._src.interpreters import (
    mlir,  # JAX has no public list of the rules of a platform
    partial_eval,
)

from paddle_jax._core.kernels.dependence import inner_jaxprs
from paddle_jax._core.numpy_backend.cost import CONVOLUTIONS

_SHORT = {
    "bfloat16": "bf16",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "f32",
    "complex128": "f64",
    "int8": "s8",
    "uint8": "s8",
}
# kinds of float32 products by their precision: GPUs have two, TPUs take one, three or six bfloat16 passes
_PASSES = {
    "tpu": {"DEFAULT": "bf16", "HIGH": "bf16x3", "HIGHEST": "f32"},
    "cuda": {"DEFAULT": "tf32", "HIGH": "tf32", "HIGHEST": "f32"},
}


# products of the size of all scores times the width in each primitive (nn/functional/fused_attention.py)
_ATTENTION = {"fused_attention": 2, "fused_attention_grad": 5}


def equations(jaxpr: Any, times: int = 1, outside: str = "") -> Iterator[tuple[Any, int, str]]:
    """(equation, how often it runs, its scope) of a jaxpr and of all that is inside. A `while` counts once,
    as the number of its rounds is not known."""
    for equation in jaxpr.eqns:
        scope = f"{outside}/{equation.source_info.name_stack}"
        yield equation, times, scope
        rounds = times
        if equation.primitive.name == "scan":
            rounds = times * equation.params["length"]
        for inner in inner_jaxprs(equation):
            yield from equations(inner, rounds, scope)


def live(jaxpr: Any) -> Any:
    """A jaxpr without equations whose results nobody needs."""
    return partial_eval.dce_jaxpr(jaxpr, [True] * len(jaxpr.outvars), instantiate=True)[0]


def operations(jaxpr: Any, platform: str) -> tuple[dict[str, float], float]:
    """({kind of product: operations}, other operations) of a jaxpr.

    A kind is a dtype of HLO. Float32 products of lower precision are "tf32" on GPUs, "bf16x3" or "bf16" on
    TPUs.
    """
    products: dict[str, float] = defaultdict(float)
    others = 0.0
    attention: set[Any] = set()  # calls of fused kernels, of which XLA merges equal ones
    for equation, times, _ in equations(jaxpr):
        name = equation.primitive.name
        if name == "dot_general":
            products[_kind(equation, platform)] += times * _dot(equation)
        elif name == "conv_general_dilated":
            products[_kind(equation, platform)] += times * _convolution(equation)
        elif name in _ATTENTION:
            call = (name, *equation.invars, equation.params["causal"], equation.params["scale"])
            if call in attention:
                continue
            attention.add(call)
            products[_kind(equation, platform)] += times * _ATTENTION[name] * _attention(equation)
        elif name in CONVOLUTIONS:  # those of this package, on a CPU
            shapes = equation.params["shapes"]
            products[_kind(equation, platform)] += (
                times * 2.0 * math.prod(shapes.out) * math.prod(shapes.weight[1:])
            )
        elif not any(True for _ in inner_jaxprs(equation)):
            # One operation for each number of a result.
            others += times * sum(getattr(v.aval, "size", 0) for v in equation.outvars)
    return dict(products), others


def _kind(equation: Any, platform: str) -> str:
    """The kind of a product."""
    dtype = _SHORT.get(str(equation.invars[0].aval.dtype), "f32")
    if dtype != "f32":
        return dtype
    precision = equation.params.get("precision", jax.lax.Precision.HIGHEST)
    # One for each operand; the first one decides.
    if isinstance(precision, tuple):
        precision = precision[0]
    name = getattr(precision, "name", precision) or "DEFAULT"  # attention has the name itself
    return _PASSES.get(platform, {}).get(name.upper(), "f32")


def _factor(equation: Any) -> int:
    """Operations of one multiplication and addition: 2, or 8 for complex numbers."""
    return 8 if equation.invars[0].aval.dtype.kind == "c" else 2


def _dot(equation: Any) -> float:
    (contracted, _), _ = equation.params["dimension_numbers"]
    shape = equation.invars[0].aval.shape
    return float(_factor(equation) * equation.outvars[0].aval.size * math.prod(shape[i] for i in contracted))


def _attention(equation: Any) -> float:
    """Operations of one product of the queries with the keys; half of them where later keys are not seen."""
    batch, queries, heads, width = equation.invars[0].aval.shape
    keys = equation.invars[1].aval.shape[1]
    share = 0.5 if equation.params["causal"] else 1.0
    return share * 2.0 * batch * heads * queries * keys * width


def _convolution(equation: Any) -> float:
    numbers = equation.params["dimension_numbers"]
    kernel = equation.invars[1].aval.shape
    per_result = math.prod(kernel[i] for i in numbers.rhs_spec[1:])
    return float(_factor(equation) * equation.outvars[0].aval.size * per_result)


def without_rule(jaxpr: Any, platform: str) -> list[tuple[str, str]]:
    """(primitive, scope) of equations that JAX cannot lower for a platform."""
    found = []
    for equation, _, scope in equations(jaxpr):
        primitive = equation.primitive
        rules = mlir._platform_specific_lowerings.get(platform, {})
        if primitive in rules or primitive in mlir._lowerings or any(True for _ in inner_jaxprs(equation)):
            continue
        found.append((primitive.name, scope))
    return found
