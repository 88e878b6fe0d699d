"""Tensors in sequences (`paddle.incubate.autograd.utils`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.incubate.autograd.primapi import disable_prim, enable_prim, prim_enabled


def as_tensors(xs: Any) -> Any:
    """A tuple of Tensors from one, or from a sequence; other values as they are.

    Example:
        >>> len(paddle.incubate.autograd.utils.as_tensors(paddle.ones([2])))
        1
    """
    if isinstance(xs, Tensor):
        return (xs,)
    if isinstance(xs, Sequence):
        return tuple(xs)
    return xs


__all__ = ["as_tensors", "disable_prim", "enable_prim", "prim_enabled"]
