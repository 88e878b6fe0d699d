"""Exchange of tensors with other libraries without copying, through DLPack."""

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
    return x._value.__dlpack__()


def from_dlpack(dlpack, *, device=None, copy=None):
    """A Tensor over the memory of another library's array (any object with `__dlpack__`).

    Args:
        dlpack: array of NumPy, PyTorch, CuPy, JAX...
        device: where the Tensor shall be; None where the array is.
        copy: True always copies, False never.
    Raises:
        TypeError: the object does not speak DLPack.
    Example:
        >>> import numpy as np
        >>> paddle.utils.dlpack.from_dlpack(np.arange(3)).tolist()
        [0, 1, 2]
    """
    if not hasattr(dlpack, "__dlpack__"):
        raise TypeError(f"from_dlpack: got {type(dlpack).__name__}; it must be an array with __dlpack__ and __dlpack_device__")
    value = jax.dlpack.from_dlpack(dlpack, copy=copy)
    if device is not None:
        from paddle_jax._core.place import put

        value = put(value, device)
    return wrap(value)
