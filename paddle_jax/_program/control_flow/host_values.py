"""Tensors that stand for numbers and arrays of Python in converted code."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import numpy as np

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.lengths import LengthBool
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor


class HostValue:
    """What `item()`, `int()` or `numpy()` of a traced Tensor gives, and a number that depends on one. It is
    true where it is not 0; a Tensor is true where it is positive. What is computed of it and of numbers is
    one, too."""

    __slots__ = ()


def is_number(value: Any) -> bool:
    """Whether a leaf is a Python or NumPy number."""
    return isinstance(value, bool | int | float | complex | np.generic | LengthBool)


def as_host_value(tensor: Tensor) -> Tensor:
    """The same Tensor, which stands for a value on the host from now on. The truth of a bool is the same."""
    # A bool is true under both rules, so it needs no mark.
    if not isinstance(tensor, HostValue) and numpy_dtype(tensor).kind != "b":
        # The same object: others may hold it, and it keeps its place on the tape.
        tensor.__class__ = _class_of(type(tensor))
    return tensor


@ft.cache
def _class_of(kind: type) -> type:
    return type(kind.__name__, (HostValue, kind), {"__slots__": (), "__module__": kind.__module__})


def numeral(tensor: Tensor) -> Tensor:
    """A Tensor that stands for a number of Python; where a function that need not be compiled whole gives it
    back, it becomes one."""
    local.ctx.frame.on_python_number(tensor)
    return as_host_value(tensor)


def _keeping(name: str) -> Callable[..., Any]:
    """A method of Tensor whose result stands for a value on the host where all operands do."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = getattr(super(HostValue, self), name)(*args, **kwargs)
        # With a real Tensor among the operands the result is a Tensor.
        if not isinstance(result, Tensor) or any(
            isinstance(arg, Tensor) and not isinstance(arg, HostValue) for arg in args
        ):
            return result
        if result.ndim == 0:
            return numeral(result)
        return as_host_value(result)

    method.__name__ = name
    return method


_BINARY = "add sub mul truediv floordiv mod pow"
_OTHERS = "__neg__ __abs__ __getitem__ detach clone astype reshape max min mean sum"
for _name in [*[f"__{side}{name}__" for side in ("", "r") for name in _BINARY.split()], *_OTHERS.split()]:
    setattr(HostValue, _name, _keeping(_name))

__all__ = ["HostValue", "as_host_value", "is_number", "numeral"]
