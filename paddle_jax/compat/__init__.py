"""paddle.compat: functions and layers with PyTorch's signatures and results, for programs that were
converted from it."""

from paddle_jax.compat import nn
from paddle_jax.compat.tensors import (
    MedianRetType,
    MinMaxRetType,
    SlogdetResult,
    SortRetType,
    equal,
    max,
    median,
    min,
    nanmedian,
    seed,
    slogdet,
    sort,
    split,
    unique,
)

__all__ = ["equal", "slogdet", "sort", "split", "min", "max", "unique", "median", "nanmedian", "seed"]
