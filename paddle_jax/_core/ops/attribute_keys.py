"""Attributes of operations as keys: a kernel belongs to the values of its attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.state import local
from paddle_jax._core.tensors.tensor import Tensor, host_value

PLAIN_TYPES = frozenset({int, str, bool, type(None), dtypes.DType})
# those whose values are equal to nothing of another type; True is equal to 1
DISTINCT_TYPES = PLAIN_TYPES - {bool}


def freeze(value: Any) -> Any:
    """A hashable form of an attribute: lists become tuples, Tensors and NumPy numbers
    become Python numbers."""
    if isinstance(value, Tensor):
        if local.ctx.frame.symbolic:
            return freeze(local.ctx.frame.numbers_of(value))
        return freeze(host_value(value, "an argument that is no tensor").tolist())
    if isinstance(value, list | tuple):
        return tuple([freeze(v) for v in value])
    if isinstance(value, np.ndarray):
        return freeze(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    return value


def typed_key(value: Any) -> Any:
    """A key in which 1, 1.0 and True differ."""
    if isinstance(value, tuple):
        return ("t", *map(typed_key, value))
    if isinstance(value, float | complex | bool):
        # The text tells 0.0 from -0.0, which are equal.
        return (type(value), value, str(value))
    return value


def with_ints(key: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """A key in which lists and tuples of plain ints can be looked up; None when it holds anything else
    that is not plain."""
    parts = []
    for part in key:
        if type(part) is list or type(part) is tuple:
            for item in part:
                if type(item) is not int:
                    return None
            part = ("ints", *part)
        elif type(part) not in PLAIN_TYPES and type(part) is not type:
            return None
        parts.append(part)
    return tuple(parts)
