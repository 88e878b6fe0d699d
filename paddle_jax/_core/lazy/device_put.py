"""Puts NumPy arrays on devices without compiling anything."""

from __future__ import annotations

import functools as ft
import math
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax._src.core import trace_state_clean  # the public module does not say whether a trace is on
from jax._src.interpreters.pxla import batched_device_put  # what device_put ends in: 5 us in place of 80
from jax.sharding import SingleDeviceSharding
from jaxlib.xla_client import batched_device_put as put_numpy  # what that one ends in: 4 us

from paddle_jax._core.lazy.devices import default_device, jax_device

ALIGNMENT = 64  # bytes; JAX takes over a NumPy array without a copy if it begins at a multiple of this
_COPIED_AT_ONCE = 100 << 10  # bytes up to which JAX copies an array before it returns


def put(array: np.ndarray) -> jax.Array:
    """A jax array on the default device from a NumPy array that nobody will change.

    It compiles nothing, where `jnp.array` does for each shape. It does not wait for the transfer. Inside a
    JAX trace the array becomes a constant of the trace.
    """
    if trace_state_clean():
        return put_on(array, None)
    # In a trace the array becomes a constant of it.
    return jnp.asarray(array)


def put_on(array: np.ndarray, device: Any) -> jax.Array:
    """The array on a device, by default JAX's own. Inside a JAX trace the result stays a known array."""
    target = jax_device(device or default_device())
    if not isinstance(target, jax.Device):  # the name of a platform
        return jax.device_put(array)
    return put_uncommitted(array, target)


def put_uncommitted(array: np.ndarray | jax.Array, device: Any) -> jax.Array:
    """The array on one device, uncommitted: JAX may use it with arrays on other devices.

    JAX copies a NumPy array that it cannot take over in a thread of its own, and then computes with it in the
    background. If memory runs out there, the error no longer names the operation. So this function makes that
    copy itself.
    """
    if (
        type(array) is np.ndarray
        and array.nbytes > _COPIED_AT_ONCE
        and array.ctypes.data % ALIGNMENT
        and device.platform == "cpu"
    ):
        copy = empty_aligned(array.shape, array.dtype)
        copy[...] = array
        array = copy
    put_array = put_numpy if type(array) is np.ndarray else batched_device_put
    return put_array(_aval(array.shape, array.dtype), SingleDeviceSharding(device), [array], [device], False)


@ft.lru_cache(maxsize=1024)
def _aval(shape: tuple[int, ...], dtype: np.dtype) -> jax.core.ShapedArray:
    """JAX's shape and dtype of an array. Making one takes longer than finding it here."""
    return jax.core.ShapedArray(shape, dtype)


def put_if_large(array: np.ndarray | jax.Array) -> np.ndarray | jax.Array:
    """An operand for a compiled kernel; a large NumPy array becomes a jax array (see `put_uncommitted`)."""
    if type(array) is np.ndarray and array.nbytes > _COPIED_AT_ONCE:
        return put(array)
    return array


def empty_aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An empty NumPy array that JAX takes over without a copy: it begins at a multiple of 64 bytes."""
    size = math.prod(shape) * dtype.itemsize
    # With room to move the beginning.
    memory = np.empty(size + ALIGNMENT, np.uint8)
    first = -memory.ctypes.data % ALIGNMENT
    return memory[first : first + size].view(dtype).reshape(shape)
