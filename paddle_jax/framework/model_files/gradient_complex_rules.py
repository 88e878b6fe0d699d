"""How gradients through complex numbers are written; see `gradient_rules.py`.

The gradient of a complex number z is dL/dRe(z) + i dL/dIm(z), as in Paddle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax._program.export_rules import ExportRules
from paddle_jax.framework.model_files import (  # noqa: F401  they register rules
    gradient_index_rules,
    gradient_layer_rules,
)
from paddle_jax.framework.model_files.gradient_rules import (
    RULES,
    Cotangents,
    add_rule,
    summed_to,
    turned,
)
from paddle_jax.framework.model_files.plain_values import as_list
from paddle_jax.framework.model_files.reading_helpers import P
from paddle_jax.framework.model_files.transform_adjoints import of_complex, of_half, of_real, times_real

# The rules of operations on complex numbers.
COMPLEX_RULES: dict[str, Callable[..., Cotangents]] = {}
# Linear operations of one operand or of parts, whose rules hold for complex numbers as they are.
_LINEAR = (
    "neg negative reshape permute_axes t concat stack unstack unbind split_at squeeze unsqueeze flatten "
    "expand broadcast_to sum mean take_index take_rows flip roll clone assign scale"
)


def _is_complex(x: Tensor) -> bool:
    return numpy_dtype(x).kind == "c"


def _add_complex_rule(*names: str) -> Callable[..., Any]:
    """As `add_rule`. An operand of real numbers gets the real part of its gradient."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        def rule(call: Any, cotangents: Cotangents) -> Cotangents:
            found = function(call.attributes, cotangents[0], call.results[0], *call.operands)
            return [
                None if cotangent is None else _in_kind_of(operand, cotangent)
                for cotangent, operand in zip(as_list(found), call.operands, strict=False)
            ]

        COMPLEX_RULES.update(dict.fromkeys(names, rule))
        return function

    return add


def _in_kind_of(operand: Tensor, cotangent: Tensor) -> Tensor:
    if _is_complex(cotangent) and not _is_complex(operand):
        cotangent = P.real(cotangent)
    return summed_to(operand, cotangent)


COMPLEX_RULES.update({name: RULES[name] for name in _LINEAR.split()})


# elements ---------------------------------------------------------------------------------------------------

_ELEMENTS: dict[str, Callable[..., Any]] = {
    "add": lambda a, g, out, x, y: (g, _scaled(g, a["alpha"])),
    "subtract": lambda a, g, out, x, y: (g, -_scaled(g, a["alpha"])),
    "real": lambda a, g, out, x: P.complex(g, P.zeros_like(g)),
    "imag": lambda a, g, out, x: P.complex(P.zeros_like(g), g),
    "complex": lambda a, g, out, re, im: (P.real(g), P.imag(g)),
    "as_real": lambda a, g, out, x: P.as_complex(g),
    "as_complex": lambda a, g, out, x: P.as_real(g),
    "conj": lambda a, g, out, x: P.conj(g),
    "multiply": lambda a, g, out, x, y: (g * P.conj(y), g * P.conj(x)),
    "true_divide": lambda a, g, out, x, y: (g / P.conj(y), -g * P.conj(out) / P.conj(y)),
    "square": lambda a, g, out, x: g * P.conj(x) * 2,
    "exp": lambda a, g, out, x: g * P.conj(out),
}
for _name, _rule in _ELEMENTS.items():
    _add_complex_rule(_name)(_rule)
add_rule("conj")(lambda a, g, out, x: g)


def _scaled(g: Tensor, alpha: Any) -> Tensor:
    return g * alpha if alpha != 1 else g


def _ones_for_zeros(x: Tensor) -> Tensor:
    return P.where(P.equal(x, P.zeros_like(x)), P.ones_like(x), x)


@_add_complex_rule("abs")
def _abs(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    # The slope at 0 is 0.
    return times_real(x, g / _ones_for_zeros(out))


@_add_complex_rule("angle")
def _angle(a: Any, g: Tensor, out: Tensor, x: Tensor) -> Tensor:
    real, imag = P.real(x), P.imag(x)
    factor = g / _ones_for_zeros(real * real + imag * imag)
    return P.complex(-imag * factor, real * factor)


@_add_complex_rule("matmul")
def _matmul(a: Any, g: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Any:
    if a["transpose_x"] or a["transpose_y"] or x.ndim < 2 or y.ndim < 2:
        raise NotWritable(
            "paddle.grad through matmul of complex vectors or turned matrices cannot be saved; "
            "transpose first"
        )
    return P.matmul(g, P.conj(turned(y))), P.matmul(P.conj(turned(x)), g)


# Fourier transforms -----------------------------------------------------------------------------------------

_add_complex_rule("fft_c2c")(lambda a, g, out, x: of_complex(g, a["axes"], a["norm"], a["forward"]))
_add_complex_rule("fft_r2c")(lambda a, g, out, x: of_real(g, x.shape, a["axes"], a["norm"], a["forward"]))
_add_complex_rule("fft_c2r")(lambda a, g, out, x: of_half(g, a["axes"], a["norm"], a["forward"]))

ExportRules.complex_gradient_rule = COMPLEX_RULES.get
