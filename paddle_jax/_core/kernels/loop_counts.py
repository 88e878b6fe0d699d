"""The counters of scans, in 32 bits on GPUs and TPUs.

JAX counts the rounds of a scan in its default integer, which is int64 here. GPUs and TPUs compute 64 bits in
pairs, so there a scan of fewer than 2**31 rounds counts in 32 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jax.interpreters import mlir

try:
    from jax._src.lax.control_flow import loops

    _implementation: Any = loops._scan_impl
    _primitive: Any = loops.scan_p
except (ImportError, AttributeError):  # another version of JAX: its scans count in 64 bits
    _implementation = None
    _primitive = None

# These compute 64 bits in pairs.
_PLATFORMS = ("cuda", "rocm", "tpu")
_MAX = 1 << 31


def _lower(context: Any, *operands: Any, length: int, **settings: Any) -> Any:
    if isinstance(length, int) and length < _MAX:
        length = np.int32(length)  # pyright: ignore[reportAssignmentType]  the counter has its dtype
    lowered = mlir.lower_fun(_implementation, multiple_results=True)
    return lowered(context, *operands, length=length, **settings)


def start() -> None:
    """Registers the rule."""
    if _primitive is None:
        return
    for platform in _PLATFORMS:
        mlir.register_lowering(_primitive, _lower, platform=platform)
