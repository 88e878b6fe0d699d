"""Reads what a Tensor holds as a jax array or as a NumPy array.

| function | runs pending operations | waits for the device | result |
| --- | --- | --- | --- |
| `materialize` | yes | no | the array as it is: jax, NumPy or tracer |
| `to_array` | yes | no | jax array or tracer; NumPy for host numbers |
| `to_jax_array` | yes | no | jax array or tracer |
| `to_numpy` | no | yes | NumPy array, not to be changed |
| `to_numpy_if_ready` | no | no | NumPy array, or None |

None of them copies an array that is already where it is wanted. Only `to_numpy` refuses tracers.
"""

from __future__ import annotations

import os
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.array import ArrayImpl

from paddle_jax._core.base.error_translation import run_error
from paddle_jax._core.base.state import local
from paddle_jax._core.base.uninitialized import Uninitialized
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.device_put import put_on
from paddle_jax._core.lazy.devices import HOST, default_device, device_of
from paddle_jax._core.lazy.lazy_array import LazyArray, constant, constant_like
from paddle_jax._core.lazy.multi_device import to_addressable

_LARGE = 4096  # elements from which the device fills a shape with one number
_LARGE_BYTES = 1 << 20  # from which memory that is needed twice matters
_POLLS = 200  # of an array that is being computed, half a microsecond each, before the thread sleeps
_yield_thread = getattr(os, "sched_yield", lambda: None)  # the thread that computes may need the processor


def materialize(raw: Any) -> Any:
    """The array behind what a Tensor holds, wherever it is; runs pending operations.

    It gives a NumPy array for host numbers and for results of the interpreter. It does not wait for the
    device, and gives tracers back as they are.
    """
    if type(raw) is not LazyArray:
        return raw
    array = raw.array
    if array is None:
        array = raw.segment.materialize(raw)
    if type(array) is tuple:
        aval = raw.aval
        if not aval.shape:
            return np.array(array[0], aval.dtype)
        numbers = np.array(array, aval.dtype)
        # Otherwise a single number stands for all elements.
        if len(array) == aval.size:
            return numbers.reshape(aval.shape)
        return np.full(aval.shape, numbers[0])
    return array


def to_array(raw: Any) -> Any:
    """The jax array behind what a Tensor holds, or a NumPy array for host numbers; runs pending operations.

    Programs have host numbers, and what an operation made on the host, as constants. It does not wait for the
    device. A result of the interpreter is put on its device and stays there.
    """
    array = materialize(raw)
    if type(raw) is LazyArray and type(raw.array) is np.ndarray:
        return stored_jax_array(raw)
    return array


def to_jax_array(raw: Any) -> Any:
    """As `to_array`, but always a jax array or tracer. What the host knows stays known inside a JAX trace."""
    if type(raw) is LazyArray and type(raw.array) is tuple and len(raw.array) == 1 and raw.aval.size > _LARGE:
        # inside a trace a NumPy array would become part of the program
        return jnp.full(raw.aval.shape, raw.array[0], raw.aval.dtype)
    array = to_array(raw)
    if not isinstance(array, np.ndarray | np.generic):
        return array
    return put_on(np.asarray(array), None)


def stored_jax_array(lazy: LazyArray) -> Any:
    """The jax array of a LazyArray that has its array. A NumPy array is put on its device, and the LazyArray
    keeps the jax array in its place."""
    array = lazy.array
    if type(array) is np.ndarray:
        array = lazy.array = put_on(array, lazy.device)
    return array


def donatable_jax_array(lazy: LazyArray) -> Any:
    """As `stored_jax_array`, but a large array never shares memory with NumPy.

    A program cannot write its results into memory of NumPy. XLA would copy all such arrays in one call, while
    the old ones are still there.
    """
    array = lazy.array
    if type(array) is not np.ndarray or array.nbytes < _LARGE_BYTES:
        return stored_jax_array(lazy)
    shared = put_on(array, lazy.device)
    if shared.platform() != "cpu":
        lazy.array = shared
        return shared
    copy = jax.device_put(shared, may_alias=False)
    copy.block_until_ready()  # if memory runs out here, NumPy's array is still there
    lazy.array = copy
    return copy


def to_numpy(array: Any, action: str = "reading") -> np.ndarray:
    """The elements of an array as a NumPy array, which the caller must not change; waits for the device.

    It shares memory with the array where both are on the host.

    Args:
        array: a jax or NumPy array, not a LazyArray.
        action: the reason for reading, for the message if the array could not be computed.
    """
    if type(array) is np.ndarray:
        return array
    if type(array) is Uninitialized:
        raise array.error("reading the value")
    try:
        array = to_addressable(array)
        if type(array) is ArrayImpl:
            # if an array could not be computed for lack of memory, NumPy's read would end the process or
            # wait for ever
            _poll(array)
            array.block_until_ready()
        return np.asarray(array)
    except (jax.errors.JaxRuntimeError, MemoryError, ValueError) as error:
        raise run_error(error, f"{action}, of a value that is computed now") from None


def _poll(array: ArrayImpl) -> None:
    """Polls for a short time whether an array is ready. Waking up a thread takes 25 to 50 us, which is a
    fifth of a small network's step."""
    is_ready = array.is_ready  # pyright: ignore[reportAttributeAccessIssue]
    for _ in range(_POLLS):
        if is_ready():
            break
        _yield_thread()


def to_numpy_if_ready(lazy: LazyArray) -> np.ndarray | None:
    """The elements of a LazyArray as a NumPy array that shares its memory.

    None where reading would wait: the array is pending, being computed, or on another device than the host.
    """
    array = lazy.array
    if type(array) is np.ndarray:
        return array
    if (
        array is None
        or type(array) is tuple
        or lazy.device is not default_device()
        or lazy.device.platform != "cpu"
    ):
        return None
    if array.is_ready():
        return np.asarray(array)
    return None


def host_view(array: Any) -> np.ndarray | None:
    """The memory of a jax array on the host as a NumPy array; waits for it. None for any other array.

    For a short look. JAX keeps what `to_numpy` gives, and a step that may overwrite the array then copies it.
    """
    if type(array) is not ArrayImpl or array.committed or array.dtype.kind not in "fiu":
        return None
    if any(device.platform != "cpu" for device in array.devices()) or len(array.devices()) > 1:
        return None
    array.block_until_ready()
    return np.from_dlpack(array)


def is_on_host(raw: Any) -> bool:
    """Whether NumPy can compute with what a Tensor holds, and new arrays are on the host as well. It runs
    pending operations."""
    if default_device() is not HOST:
        return False
    if type(raw) is LazyArray:
        # The device of a pending operation is known when it runs.
        materialize(raw)
        return type(raw.array) is tuple or raw.device is HOST
    return type(raw) is np.ndarray or (type(raw) is ArrayImpl and device_of(raw) is HOST)


def put_beside(array: np.ndarray, other: jax.Array) -> jax.Array:
    """A NumPy array that nobody will change as a jax array on the device of another one."""
    (device,) = other.devices()
    return put_on(array, device)


def zeros_like(raw: Any) -> Any:
    """Zeros of the shape and dtype of an array. While operations are recorded, a constant that takes no
    memory until it is read."""
    if type(raw) is LazyArray:
        aval = raw.aval
        return (None if aval.weak else aval.constants.get(0)) or constant_like(0, raw)
    if not local.ctx.frame.deferring:
        return constant(0, aval_of(raw.shape, raw.dtype))
    return jnp.zeros_like(to_jax_array(raw))
