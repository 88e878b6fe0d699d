"""Writing checkpoints as pickles that both Paddle and NumPy of any version read."""

from __future__ import annotations

import copyreg
import pickle
import types
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from paddle_jax._core.base.dtype import DType
from paddle_jax._core.base.size import Size, TensorSize
from paddle_jax._core.tensors.tensor import Tensor, host_elements

# Found by asking NumPy, whose version decides in which module they are.
_NUMPY_GLOBALS = {np.empty(0).__reduce__()[0]: "_reconstruct", np.float32(0).__reduce__()[0]: "scalar"}


def to_array(tensor: Tensor) -> np.ndarray:
    """The ndarray that stands for a Tensor in a file: bfloat16 as the uint16 of its bits, float8 as
    int8, as Paddle does."""
    return as_bits(host_elements(tensor))


def as_bits(array: Any) -> np.ndarray:
    """An ndarray in the form it has in a file."""
    if array.dtype == ml_dtypes.bfloat16:
        return array.view(np.uint16)
    # `V` is how NumPy sees dtypes that are not its own.
    if array.dtype.kind == "V" or array.dtype.name.startswith("float8"):
        raise TypeError(
            f"save: obj: a {array.dtype} tensor has no form in a pickle that can be read back; "
            "use safetensors=True."
        )
    return array


# How Python's own pickler writes the built-in types.
_STANDARD_METHODS = {
    type(None): "save_none",
    bool: "save_bool",
    int: "save_long",
    float: "save_float",
    bytes: "save_bytes",
    bytearray: "save_bytearray",
    pickle.PickleBuffer: "save_picklebuffer",
    str: "save_str",
    tuple: "save_tuple",
    list: "save_list",
    dict: "save_dict",
    set: "save_set",
    frozenset: "save_frozenset",
    types.FunctionType: "save_global",
    type: "save_type",
}


class _Writer(pickle._Pickler):
    # The Python version of the pickler: it lets the module name of NumPy's internals be chosen.

    # Its own table: dill (by way of `datasets`, for one) changes that of the class above for the whole
    # process, and the files would then need dill to be read.
    dispatch = {kind: getattr(pickle._Pickler, name) for kind, name in _STANDARD_METHODS.items()}

    def reducer_override(self, obj: Any) -> Any:
        """How Tensors, dtypes and sizes are written: as (name, array), as Paddle's own dtype objects, as
        lists and numbers."""
        if isinstance(obj, Tensor):
            return tuple, ((obj.name, to_array(obj)),)
        # NumPy would write the name of ml_dtypes, which Paddle does not have.
        if isinstance(obj, np.ndarray) and obj.dtype == ml_dtypes.bfloat16:
            return obj.view(np.uint16).__reduce_ex__(self.proto)
        if isinstance(obj, DType):
            return copyreg.__newobj__, (DType,), obj.value
        if isinstance(obj, Size):
            return list, (tuple(obj),)  # Paddle's loader walks through lists, and refuses sizes
        if isinstance(obj, TensorSize):
            return int, (int(obj),)
        return NotImplemented

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Writes a global by name. NumPy 1 does not know `numpy._core`, while NumPy 2 still
        reads `numpy.core`."""
        if obj is DType:
            self._save_name("paddle", "dtype", obj)
        elif any(obj is known for known in _NUMPY_GLOBALS):
            self._save_name("numpy.core.multiarray", _NUMPY_GLOBALS[obj], obj)
        else:
            super().save_global(obj, name)

    def _save_name(self, module: str, name: str, obj: Callable[..., Any] | type) -> None:
        # Protocol 4 takes module and name from the stack.
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode("ascii"))
        self.memoize(obj)


def write(obj: Any, stream: Any, protocol: Any) -> None:
    """Writes one object to a binary stream."""
    _Writer(stream, protocol).dump(obj)
