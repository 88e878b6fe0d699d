"""What Paddle's state-dict files add to a plain dict: the table of parameter names, and big
arrays in slices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.framework.pickle_names import CorruptFileError
from paddle_jax.framework.pickle_writer import to_array

NAME_TABLE = "StructuredToParameterName@@"
SLICE_TABLE = "UnpackBigParamInfor@@"
# Pickle protocols 2 and 3 count the bytes of an object with 32 bits; Paddle keeps far below that.
SLICE_BYTES = 2**30 - 1


def contains(item: Any, kind: Any, seen: Any = None) -> bool:
    """Whether a Tensor, Layer ... is anywhere in dicts, lists and tuples."""
    if not isinstance(item, dict | list | tuple):
        return isinstance(item, kind)
    if seen is None:
        seen = set()
    # A container that holds itself.
    if id(item) in seen:
        return False
    seen.add(id(item))
    return any(contains(part, kind, seen) for part in (item.values() if isinstance(item, dict) else item))


def is_state_dict(obj: Any) -> bool:
    """Whether every value is a Tensor, or a dict without Tensors (such as the state of a scheduler)."""
    # A dict without Tensors: the state of a scheduler.
    return isinstance(obj, dict) and all(
        isinstance(v, Tensor) or (isinstance(v, dict) and not contains(v, Tensor)) for v in obj.values()
    )


def to_plain(state: dict[str, Any], protocol: Any) -> dict[str, Any]:
    """The dict that is pickled for a state dict: arrays, and the table of names."""
    names = {key: value.name for key, value in state.items() if isinstance(value, Tensor)}
    plain = {key: to_array(value) if isinstance(value, Tensor) else value for key, value in state.items()}
    plain[NAME_TABLE] = names
    if protocol in (2, 3):
        return slice_big(plain)
    return plain


def slice_big(plain: Any) -> dict[Any | str, Any | dict[Any, Any]]:
    """Cuts arrays of more than SLICE_BYTES into flat pieces under keys of their own."""
    whole = {}
    slices = {}
    table = {}
    for key, value in plain.items():
        if isinstance(value, np.ndarray):
            # In elements of the array.
            limit = SLICE_BYTES // value.itemsize
        else:
            limit = math.inf
        if not isinstance(value, np.ndarray) or value.size <= limit:
            whole[key] = value
            continue
        flat = value.ravel()
        pieces = {
            f"{key}@@.{i}": flat[start : start + limit] for i, start in enumerate(range(0, flat.size, limit))
        }
        table[key] = {"OriginShape": value.shape, "slices": list(pieces)}
        slices |= pieces
    return whole | slices | ({SLICE_TABLE: table} if table else {})


def join_slices(plain: Any) -> Any:
    """Puts sliced arrays together again, in place."""
    # Without a table nothing was cut.
    for key, info in plain.pop(SLICE_TABLE, {}).items():
        try:
            pieces = [plain.pop(name) for name in info["slices"]]
            plain[key] = np.concatenate(pieces).reshape(info["OriginShape"])
        except (KeyError, ValueError, TypeError) as error:
            raise CorruptFileError(f"the slices of {key!r} are not complete") from error
    return plain
