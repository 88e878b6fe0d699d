"""What `paddle.base.executor` has beside the Executor and scopes, which the table of paths finds."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax.tensor.dense_tensor import DenseTensor


def as_numpy(tensor: Any, copy: Any = False) -> Any:
    """The NumPy array of a DenseTensor, or of each in a list; None where there is no value.

    Args:
        tensor: DenseTensor or list of such.
        copy: accepted; the result is always a copy.
    """
    if isinstance(tensor, list):
        return [as_numpy(t) for t in tensor]
    if isinstance(tensor, DenseTensor) and not tensor._is_initialized():
        return None
    return np.array(tensor)
