"""paddle.compat: functions and layers with PyTorch's signatures and results, for programs that were
converted from it."""

from paddle_jax.compat import nn as nn
from paddle_jax.compat.tensors import (
    MedianRetType as MedianRetType,
    MinMaxRetType as MinMaxRetType,
    SlogdetResult as SlogdetResult,
    SortRetType as SortRetType,
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
