"""Exchange of tensors with other libraries without copying, through DLPack."""

from __future__ import annotations

import ctypes
from typing import Any

import jax
import numpy as np

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tensors.place import put
from paddle_jax._core.tensors.tensor import Tensor, wrap

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(x: Tensor) -> Any:
    """The DLPack capsule of a Tensor, for libraries that take capsules.

    Args:
        x: Tensor [...].
    Returns:
        Capsule, for one use.
    Raises:
        TypeError: x is not a Tensor.
    Example:
        >>> capsule = paddle.utils.dlpack.to_dlpack(paddle.ones([2]))
        >>> paddle.utils.dlpack.from_dlpack(capsule).tolist()
        [1.0, 1.0]
    """
    if not isinstance(x, Tensor):
        raise ArgumentError(f"to_dlpack: x: got {type(x).__name__}; it must be a Tensor")
    return x.__dlpack__()


# where the device is in the structure behind a capsule, by the capsule's name
_DEVICE_AT = {
    b"dltensor": ctypes.sizeof(ctypes.c_void_p),
    b"dltensor_versioned": 2 * ctypes.sizeof(ctypes.c_void_p) + 24,
}
_CPU = 1  # the number of host memory among DLPack's kinds of devices


class _Capsule:
    """A DLPack capsule as an object that hands it out once, and tells the device that stands in it."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[Any, Any]:
        name_of = ctypes.pythonapi.PyCapsule_GetName
        pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
        name_of.restype = ctypes.c_char_p
        name_of.argtypes = [ctypes.py_object]
        pointer_of.restype = ctypes.c_void_p
        pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
        name = name_of(self._capsule)
        offset = _DEVICE_AT.get(name)
        # Each version of the protocol has the device at its own place.
        if offset is None:
            raise ArgumentError("from_dlpack: dlpack: the capsule was used before; ask for a new one")
        kind, number = (ctypes.c_int32 * 2).from_address(pointer_of(self._capsule, name) + offset)
        return kind, number


def _host_copy(dlpack: Any) -> jax.Array | None:
    """A copy of an array in host memory, with any strides; None where NumPy does not read it (bfloat16)."""
    try:
        view = np.from_dlpack(dlpack)
    except (RuntimeError, BufferError):
        return None
    return jax.device_put(np.array(view, order="C"), jax.local_devices(backend="cpu")[0])


def _from_dlpack(dlpack: Any, copy: bool | None) -> jax.Array:
    """What JAX reads; it takes only arrays without gaps."""
    try:
        return jax.dlpack.from_dlpack(dlpack, copy=copy)
    except jax.errors.JaxRuntimeError as error:
        if "striding" not in str(error):
            raise
        raise BufferError(
            "from_dlpack: dlpack: its elements do not lie side by side, so its memory cannot "
            "be shared; pass a contiguous array, or copy=None for one in host memory"
        ) from None


def from_dlpack(dlpack: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A Tensor with the values of another library's array: any object with `__dlpack__`, or a capsule that
    was not used before.

    Args:
        dlpack: array of NumPy, PyTorch, CuPy, JAX..., or what `to_dlpack` gave.
        device: where the Tensor shall be; None where the array is.
        copy: True always copies, False never: the memory is shared, and whoever owns it must not write into
            it any more, since operations that read it may run later. None copies unless nobody can write into
            the array (one of JAX or paddle_jax).
    Returns:
        Tensor of the shape and dtype of the array.
    Raises:
        ValueError: the object does not speak DLPack, or the capsule was used before.
        BufferError: it is a Tensor that needs a gradient, or the elements of an array that cannot be copied
            here do not lie side by side.
    Differs from Paddle: without copy=False the memory is not shared.
    Example:
        >>> import numpy as np
        >>> paddle.utils.dlpack.from_dlpack(np.arange(3)).tolist()
        [0, 1, 2]
    """
    if type(dlpack).__name__ == "PyCapsule":
        dlpack = _Capsule(dlpack)
    if not (hasattr(dlpack, "__dlpack__") and hasattr(dlpack, "__dlpack_device__")):
        raise ArgumentError(
            f"from_dlpack: got {type(dlpack).__name__}; it must be an array with __dlpack__ "
            "and __dlpack_device__"
        )
    value = None
    # Arrays of JAX never change; other owners may write into an array of NumPy.
    foreign = not isinstance(dlpack, jax.Array | Tensor)
    if foreign and copy is not False and dlpack.__dlpack_device__()[0] == _CPU:
        value = _host_copy(dlpack)
    if value is None:
        value = _from_dlpack(dlpack, copy)
        if foreign and copy is None:
            value = jax.block_until_ready(jax.numpy.array(value, copy=True))  # read before its owner goes on
    if device is not None:
        value = put(value, device)
    return wrap(value)
