"""Constants that are written into constants, on TPUs.

XLA's compiler for TPUs fails where a product has such an operand: it folds the product, and makes an
instruction that its own check refuses (libtpu 0.0.42 to 0.0.52). The gradient of one column of a matrix is
such an operand, as in second derivatives. Here the constant that is written into is hidden from the folding.
"""

from __future__ import annotations

from typing import Any

from jax import lax
from jax.interpreters import mlir

try:
    from jax._src.lax.slicing import _dynamic_update_slice_lower

    _usual: Any = _dynamic_update_slice_lower
except ImportError:  # another version of JAX: its programs stay as they are
    _usual = None

_TRANSPARENT = ("stablehlo.broadcast_in_dim", "stablehlo.reshape")


def _lower(context: Any, operand: Any, update: Any, *starts: Any) -> Any:
    if _is_constant(operand) and _is_constant(update):
        # The barrier hides the constant, which XLA would otherwise update while it compiles.
        hide = mlir.lower_fun(lax.optimization_barrier, multiple_results=False)
        (operand,) = hide(context.replace(avals_in=context.avals_in[:1]), operand)
    return _usual(context, operand, update, *starts)


def _is_constant(value: Any) -> bool:
    """Whether a value of the module is a constant, or one that is spread or reshaped."""
    made = value.owner
    while getattr(made, "name", "") in _TRANSPARENT:  # a block owns an argument
        made = made.operands[0].owner
    return getattr(made, "name", "") == "stablehlo.constant"


def start() -> None:
    """Registers the rule."""
    if _usual is not None:
        # A cached rule would not see the operands themselves.
        mlir.register_lowering(lax.dynamic_update_slice_p, _lower, "tpu", cacheable=False)
