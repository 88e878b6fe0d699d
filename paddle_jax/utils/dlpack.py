"""Exchange of tensors with other libraries without copying, through DLPack."""

import ctypes

import jax

from paddle_jax._core.errors import ArgumentError
from paddle_jax._core.tensor import Tensor, wrap

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(x):
    """The DLPack capsule of a Tensor, for libraries that take capsules.

    Raises:
        TypeError: x is not a Tensor.
    """
    if not isinstance(x, Tensor):
        raise ArgumentError(f"to_dlpack: x: got {type(x).__name__}; it must be a Tensor")
    return x.__dlpack__()


class _Capsule:
    """A DLPack capsule as an object that hands it out once, and tells the device that stands in it."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **kwargs):
        return self._capsule

    def __dlpack_device__(self):
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        kind, number = (ctypes.c_int32 * 2).from_address(pointer(self._capsule, b"dltensor")
                                                         + ctypes.sizeof(ctypes.c_void_p))
        return kind, number


def from_dlpack(dlpack, *, device=None, copy=None):
    """A Tensor with the values of another library's array: any object with `__dlpack__`, or a capsule that
    was not used before.

    Args:
        dlpack: array of NumPy, PyTorch, CuPy, JAX..., or what `to_dlpack` gave.
        device: where the Tensor shall be; None where the array is.
        copy: True always copies, False never: the memory is shared, and whoever owns it must not write into
            it any more, since operations that read it may run later. None copies unless nobody can write into
            the array (one of JAX or paddle_jax).
    Raises:
        ValueError: the object does not speak DLPack, or the capsule was used before.
        BufferError: it is a Tensor that needs a gradient.
    Differs from Paddle: without copy=False the memory is not shared.
    Example:
        >>> import numpy as np
        >>> paddle.utils.dlpack.from_dlpack(np.arange(3)).tolist()
        [0, 1, 2]
    """
    if type(dlpack).__name__ == "PyCapsule":
        dlpack = _Capsule(dlpack)
    if not hasattr(dlpack, "__dlpack__"):
        raise ArgumentError(f"from_dlpack: got {type(dlpack).__name__}; it must be an array with __dlpack__ "
                            "and __dlpack_device__")
    value = jax.dlpack.from_dlpack(dlpack, copy=copy)
    if copy is None and not isinstance(dlpack, jax.Array | Tensor):
        value = jax.block_until_ready(jax.numpy.array(value, copy=True))  # read before its owner goes on
    if device is not None:
        from paddle_jax._core.place import put

        value = put(value, device)
    return wrap(value)
