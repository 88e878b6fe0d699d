"""The one dispatch point: every operation on Tensors, forward or backward, passes through `run` (or its short
cuts, see fast_path.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.base.state import local
from paddle_jax._core.execution.frame import is_inexact
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.tensors.tensor import Tensor


def run(kernel: Kernel, tensors: Sequence[Tensor]) -> Any:
    """Runs a kernel on Tensors and returns Tensors, recording a tape node when a gradient may be asked for.

    The structure of the result follows the kernel: one Tensor, or a tuple or list of Tensors.
    """
    return local.ctx.frame.call(kernel, tensors)


__all__ = ["is_inexact", "run"]
