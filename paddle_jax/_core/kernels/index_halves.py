"""The halves of 64-bit indices that are constants, in 32 bits on GPUs and TPUs.

Indices are narrowed by their two halves (`tensor/lowering.py`). XLA computes those of a constant, such as the
positions of words, from 64 bits while the program runs. Here they are constants, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jax import lax
from jax.interpreters import mlir

try:
    from jax._src.lax.lax import _bitcast_convert_type_lower

    _usual: Any = _bitcast_convert_type_lower
except ImportError:  # another version of JAX: it computes the halves
    _usual = None

_PLATFORMS = ("cuda", "rocm", "tpu")


def _lower(context: Any, operand: Any, *, new_dtype: Any) -> Any:
    (index,) = context.avals_in
    if index.dtype == np.int64 and np.dtype(new_dtype) == np.int32:
        numbers = _constant(operand)
        if numbers is not None:
            halves = np.broadcast_to(numbers, index.shape)[..., None].view(np.int32)
            return [mlir.ir_constant(halves)]
    return _usual(context, operand, new_dtype=new_dtype)


def _constant(value: Any) -> np.ndarray | None:
    """The numbers of a value of the module if it is a constant."""
    name = getattr(value.owner, "name", "")  # a block owns an argument
    if name != "stablehlo.constant":
        return None
    return np.array(value.owner.attributes["value"])


def start() -> None:
    """Registers the rule."""
    if _usual is None:
        return
    for platform in _PLATFORMS:
        # A cached rule would not see the operand itself.
        mlir.register_lowering(lax.bitcast_convert_type_p, _lower, platform, cacheable=False)
