"""Messages of a fixed size, by which every call between processes begins.

Each process sends one to all. It holds a digest of the call, and the array if that is small. As all messages
have one size, processes that make different calls still understand each other. Small arrays need one exchange
and no program of their own: on CPUs NumPy reduces them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

DIGEST_BYTES = 16
PAYLOAD_BYTES = 4096
SUM, MAX, MIN, PROD, AVG = range(5)
_UFUNCS = {SUM: np.add, AVG: np.add, PROD: np.multiply, MAX: np.maximum, MIN: np.minimum}


def encode(text: str, payload: bytes = b"") -> np.ndarray:
    """A message: the digest of a text, and up to PAYLOAD_BYTES bytes."""
    message = np.zeros(DIGEST_BYTES + PAYLOAD_BYTES, np.uint8)
    digest = hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).digest()
    message[:DIGEST_BYTES] = np.frombuffer(digest, np.uint8)
    message[DIGEST_BYTES : DIGEST_BYTES + len(payload)] = np.frombuffer(payload, np.uint8)
    return message


def payloads(messages: np.ndarray) -> list[bytes]:
    """The bytes in messages, which end where zeros begin."""
    return [message[DIGEST_BYTES:].tobytes().rstrip(b"\0") for message in messages]


def are_same_call(messages: np.ndarray) -> bool:
    """Whether all messages announce the same call."""
    return bool((messages[:, :DIGEST_BYTES] == messages[0, :DIGEST_BYTES]).all())


def decode_arrays(messages: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> list[np.ndarray]:
    """The arrays in messages."""
    nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    return [message[DIGEST_BYTES : DIGEST_BYTES + nbytes].view(dtype).reshape(shape) for message in messages]


def local_result(key: tuple[Any, ...], arrays: Sequence[np.ndarray], index: int) -> np.ndarray:
    """The result of a collective for one process.

    Args:
        key: the operation, as in collectives.py.
        arrays: the arrays of all processes.
        index: the index of the process in the group.
    """
    name, *rest = key
    if name == "all_reduce":
        return reduce_arrays(rest[0], arrays)
    if name == "all_gather":
        return np.stack(arrays)
    if name == "broadcast":
        return arrays[rest[0]].copy()
    if name == "scatter":
        return arrays[rest[0]][index][None].copy()
    if name == "all_to_all":
        return np.stack([array[index] for array in arrays])
    reduced = reduce_arrays(rest[0], arrays)  # reduce_scatter
    length = reduced.shape[0] // len(arrays)
    return reduced[index * length : (index + 1) * length].copy()


def reduce_arrays(op: int, arrays: Sequence[np.ndarray], out: np.ndarray | None = None) -> np.ndarray:
    """Reduces arrays element by element.

    Short floating-point numbers are reduced in float32, bool as "any" or "all".

    Args:
        op: SUM, MAX, MIN, PROD or AVG.
        arrays: at least two arrays of one shape and dtype.
        out: array for the result, or None.
    """
    dtype = arrays[0].dtype
    if dtype.kind == "b":
        reduce_bool = np.any if op in (SUM, MAX, AVG) else np.all
        return reduce_bool(arrays, axis=0)
    is_floating = jnp.issubdtype(dtype, jnp.floating)
    if is_floating and dtype.itemsize < 4:
        wide = np.dtype(np.float32)
    else:
        wide = dtype
    if out is None:
        out = np.empty(arrays[0].shape, wide)  # NumPy gives a number in place of an array without axes
    ufunc = _UFUNCS[op]
    with np.errstate(all="ignore"):
        total = ufunc(arrays[0].astype(wide, copy=False), arrays[1].astype(wide, copy=False), out=out)
        for array in arrays[2:]:
            total = ufunc(total, array.astype(wide, copy=False), out=total)
        if op == AVG:
            if is_floating and dtype.itemsize == 2:
                total = total.astype(dtype).astype(wide)  # the sum is rounded, as in Paddle
            if jnp.issubdtype(wide, jnp.inexact):
                divide = np.divide
            else:
                divide = np.floor_divide
            total = divide(total, wide.type(len(arrays)), out=total)
        if total.dtype == dtype:
            return total
        return total.astype(dtype)
