"""Parts of what is saved and loaded, as libraries take them from `paddle.framework.io`."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax.tensor.dense_tensor import DenseTensor


def _parse_every_object(obj: Any, condition_func: Any, convert_func: Any) -> Any:
    """Replaces what fulfils a condition in lists, tuples, sets and dicts."""
    if condition_func(obj):
        return convert_func(obj)
    if isinstance(obj, list | tuple | set):
        return type(obj)(_parse_every_object(part, condition_func, convert_func) for part in obj)
    if isinstance(obj, dict):
        return type(obj)(
            (key, _parse_every_object(part, condition_func, convert_func)) for key, part in obj.items()
        )
    return obj


def _to_LodTensor(ndarray: Any) -> DenseTensor:  # noqa: N802  Paddle's name
    made = DenseTensor()
    made.set(np.asarray(ndarray))
    return made


def _transformed_from_lodtensor(obj: Any) -> bool:
    return isinstance(obj, np.ndarray)


def _transformed_from_varbase(obj: Any) -> bool:
    return (
        isinstance(obj, tuple)
        and len(obj) == 2
        and isinstance(obj[0], str)
        and isinstance(obj[1], np.ndarray)
    )
