"""Constructors named after a dtype: FloatTensor, LongTensor and so on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.creation import empty, to_tensor


def _make(name: str, dtype: str, args: Sequence[Any], device: str | None) -> Tensor:
    if not args:
        return empty([0], dtype, device=device)
    first = args[0]
    if len(args) == 1 and isinstance(first, Tensor):
        if device is None:
            return to_tensor(first)
        return to_tensor(first, place=device)
    # An array with axes keeps its own dtype; a list gets the one of the type.
    if len(args) == 1 and hasattr(first, "__array__") and getattr(first, "ndim", 0):
        return to_tensor(first, place=device)
    if len(args) == 1 and isinstance(first, list | tuple):
        return to_tensor(first, dtype, device)
    if any(isinstance(n, bool) for n in args):
        raise TypeError(f"{name}: got a bool; lengths are ints")
    if not all(isinstance(n, int) for n in args):
        raise ArgumentError(
            f"{name}: got {', '.join(type(n).__name__ for n in args)}; allowed are lengths, "
            "one list, one array and one Tensor"
        )
    return empty(list(args), dtype, device=device)


def _constructor(name: str, dtype: str) -> type:
    def make(cls, *args: Any, device: str | None = None) -> Tensor:
        return _make(name, dtype, args, device)

    doc = f"""Makes a Tensor of dtype {dtype} from a list or tuple, or one of the given lengths.

    Args:
        args: one list or tuple; or ints, the lengths (the elements are zeros); or one Tensor or NumPy array,
            which keeps its dtype; or nothing.
        device: where it is put. Default: the current device.
    Returns:
        Tensor; `{name}` itself has no instances.
    Raises:
        ValueError: the arguments are something else, or a length is negative.
    Example:
        >>> paddle.{name}([1, 0]).dtype
        paddle.{dtype}
    """
    return type(name, (), {"__new__": make, "__doc__": doc, "__module__": __name__})


FloatTensor: type = _constructor("FloatTensor", "float32")
DoubleTensor: type = _constructor("DoubleTensor", "float64")
HalfTensor: type = _constructor("HalfTensor", "float16")
BFloat16Tensor: type = _constructor("BFloat16Tensor", "bfloat16")
ByteTensor: type = _constructor("ByteTensor", "uint8")
CharTensor: type = _constructor("CharTensor", "int8")
ShortTensor: type = _constructor("ShortTensor", "int16")
IntTensor: type = _constructor("IntTensor", "int32")
LongTensor: type = _constructor("LongTensor", "int64")
BoolTensor: type = _constructor("BoolTensor", "bool")
