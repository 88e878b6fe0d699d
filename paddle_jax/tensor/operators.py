"""Python operators of Tensor: numbers and NumPy arrays on the other side become operands, the
op does the rest."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable
from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.fast_path import run2
from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.lazy_array import LazyArray, host_numbers
from paddle_jax._core.lazy.lengths import LengthBool, as_int
from paddle_jax._core.ops.op import scalar
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.tensor import bitwise, creation, linalg, logic, math, ops
from paddle_jax.tensor.axes import check_divisor

_DIVISIONS = ("__truediv__", "__rtruediv__")
_NUMBERS = bool | int | float | complex | np.number | np.bool_


def operands(x: Tensor, other: Any, name: str) -> tuple[Tensor, ...]:
    """Both sides as Tensors of the dtype the operation runs in.

    A number takes the dtype of the tensor; a float with an integer tensor makes the tensor float32, an int
    with a bool tensor makes it int64, a complex number makes it complex. `@` brings a NumPy array to the
    dtype of the tensor.
    """
    if isinstance(other, _NUMBERS):
        dtype = dtypes.scalar_np(other, numpy_dtype(x))
        if name in _DIVISIONS and dtype.kind == "b" and isinstance(other, np.integer):
            dtype = np.dtype(np.int64)  # the quotient is a float32 one, as beside an int
        if dtype != numpy_dtype(x):
            x = math.to_dtype(x, dtypes.convert(dtype))
        return x, scalar(other, dtype)
    if isinstance(other, np.ndarray):
        same = name.endswith("matmul__") and np.can_cast(other.dtype, numpy_dtype(x), "same_kind")
        return x, creation.to_tensor(other.astype(numpy_dtype(x)) if same else other)
    if hasattr(other, "__jax_array__") or type(other).__module__.startswith("jax"):
        return x, wrap(other)
    if isinstance(other, LengthBool):
        return operands(x, as_int(other), name)
    raise TypeError(
        f"(InvalidType) {name}(): argument (position 1) must be int, float, bool or Tensor, "
        f"but got {type(other).__name__}"
    )


_EXACT = 1 << 24  # integers below are exact in float32
_WIDE = 6e4  # floats below are finite in each dtype
_SMALL = range(-128, 128)  # integers that each signed dtype has


@ft.lru_cache(maxsize=4096)
def _number(value: float, dtype: np.dtype) -> Tensor:
    """A number as an operand for a tensor of floats or integers: a host number, which the deferred tier hands
    to the device with others. Not for -0.0, which is equal to 0.0."""
    number = float(value) if dtype.kind == "f" else value
    return wrap(host_numbers((number,), aval_of((), dtype)))


def _usual_number(tensor: Tensor, y: Any) -> Tensor | None:
    """As `operands`, for a number that a tensor of its dtype can have beside it; None in other cases."""
    raw = held_value(tensor)
    dtype = raw.aval.dtype if type(raw) is LazyArray else raw.dtype
    if type(y) is int:
        if (dtype.kind == "f" and -_EXACT < y < _EXACT) or (dtype.kind == "i" and y in _SMALL):
            return _number(y, dtype)
    # Larger ones may be infinite in a narrow dtype, of which NumPy would warn.
    elif type(y) is float and y and -_WIDE < y < _WIDE and dtype.kind == "f":
        return _number(y, dtype)
    return None


def _binary(name: str, op: Callable[..., Any], swapped: bool = False) -> Callable[..., Any]:
    made = op.op
    kernels = []
    repeats = op is math.multiply

    def method(self, y: Any) -> Tensor:
        if isinstance(y, Tensor):
            left = self
            right = y
        else:
            left = self
            right = _usual_number(self, y)
            if right is None and repeats and isinstance(y, list | tuple | str):
                # then Python repeats the sequence, as often as a Tensor of one element says
                return NotImplemented
            if right is None:
                left, right = operands(self, y, name)
        if swapped:
            left, right = right, left
        if not local.ctx.is_plain:
            return op(left, right)
        if not kernels:
            if plain:
                kernels.append(made.kernel((-2, -2), defaults))
            return op(left, right)
        return run2(kernels[0], left, right)

    defaults = tuple([made.signature.parameters[a].default for a in made.attrs])
    plain = not made.composite and len(made.tensors) == 2
    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The operator `{name}`: see `{op.__name__}`."
    return method


def _product(name: str, swapped: bool = False) -> Callable[..., Any]:
    """The operator `@`: what stands beside the Tensor (on the right, if both are Tensors) is brought to its
    dtype, unless that is bool or one of them is complex."""
    general = _binary(name, linalg.matmul, swapped)

    def method(self, y: Tensor) -> Tensor:
        if isinstance(y, np.ndarray):
            raw = y
        elif isinstance(y, Tensor):
            raw = held_value(y)
        else:
            raw = None
        own = numpy_dtype(self)
        if raw is not None and raw.dtype != own and own.kind != "b" and "c" not in (raw.dtype.kind, own.kind):
            y = y.astype(own) if raw is y else math.to_dtype(y, self.dtype)
        return general(self, y)

    return ft.update_wrapper(method, general)


def _divided(name: str, op: Callable[..., Any], swapped: bool = False) -> Callable[..., Any]:
    """As `_binary`, for operators that refuse to divide integers by zero."""
    general = _binary(name, op, swapped)

    def method(self, y: Any) -> Tensor:
        if swapped:
            check_divisor(op.__name__, y, self)
        else:
            check_divisor(op.__name__, self, y)
        return general(self, y)

    return ft.update_wrapper(method, general)


_general_power = _binary("__pow__", math.pow)


def _power(self, y: Any) -> Tensor:
    """The operator `**`: see `pow`. Squares, the most frequent power by far, are products."""
    if type(y) in (int, float) and y == 2 and numpy_dtype(self).kind in "fcV":
        return ops.square(self)
    return _general_power(self, y)


def _compare(name: str, op: Callable[..., Any]) -> Callable[..., Any]:
    def method(self, y: Any) -> Tensor:
        left = self
        right = y
        if not isinstance(y, Tensor):
            right = _usual_number(self, y)
            if right is None and not isinstance(y, _NUMBERS | np.ndarray):
                return NotImplemented
            if right is None:
                left, right = operands(self, y, name)
        return op(left, right)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The operator `{name}`: see `{op.__name__}`."
    return method


def _bits(name: str, op: Callable[..., Any], swapped: bool = False) -> Callable[..., Any]:
    """Operators on bits: a number on the other side takes the dtype of the tensor; a float
    there is refused."""

    def method(self, y: Any, *args: Any, **kwargs: Any) -> Tensor:
        if not isinstance(y, Tensor):
            if not isinstance(y, bool | int):
                raise ArgumentError(f"{name}: y: got {type(y).__name__}; allowed are Tensor, int and bool")
            y = scalar(y, numpy_dtype(self))
        if swapped:
            return op(y, self, *args, **kwargs)
        return op(self, y, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"The operator `{name}`: see `{op.__name__}`."
    return method


def install() -> None:
    """Puts the operators on Tensor."""
    arithmetic = {
        "add": math.add,
        "sub": math.subtract,
        "mul": math.multiply,
        "truediv": math.true_divide,
        "floordiv": math.floor_divide,
        "mod": math.remainder,
        "pow": math.pow,
    }
    for name, op in arithmetic.items():
        operator = _divided if name in ("floordiv", "mod") else _binary
        setattr(Tensor, f"__{name}__", operator(f"__{name}__", op))
        setattr(Tensor, f"__r{name}__", operator(f"__r{name}__", op, swapped=True))
    # The names of Python 2, which Paddle still has.
    Tensor.__div__ = Tensor.__truediv__
    Tensor.__rdiv__ = Tensor.__rtruediv__
    for name, op in {
        "eq": logic.equal,
        "ne": logic.not_equal,
        "lt": logic.less_than,
        "le": logic.less_equal,
        "gt": logic.greater_than,
        "ge": logic.greater_equal,
    }.items():
        setattr(Tensor, f"__{name}__", _compare(f"__{name}__", op))
    Tensor.__matmul__, Tensor.__rmatmul__ = _product("__matmul__"), _product("__rmatmul__", swapped=True)
    Tensor.__pow__ = _power
    Tensor.__neg__ = ops.neg
    Tensor.__abs__ = ops.abs
    Tensor.__pos__ = ops.positive
    Tensor.__invert__ = bitwise.bitwise_not
    for name, op in {
        "and": bitwise.bitwise_and,
        "or": bitwise.bitwise_or,
        "xor": bitwise.bitwise_xor,
    }.items():
        # as in Paddle, a number may stand on the left (`True & t`) but not on the right
        setattr(Tensor, f"__{name}__", op)
        setattr(Tensor, f"__r{name}__", _bits(f"__r{name}__", op, swapped=True))
    for name, op in {"lshift": bitwise.bitwise_left_shift, "rshift": bitwise.bitwise_right_shift}.items():
        setattr(Tensor, f"__{name}__", _bits(f"__{name}__", op))
        setattr(Tensor, f"__r{name}__", _bits(f"__r{name}__", op, swapped=True))


def install_aliases() -> None:
    """Gives methods their second names: `x.mul(y)` for `x.multiply(y)`, in-place twins included."""
    second = {
        "clamp": "clip",
        "div": "divide",
        "eq": "equal",
        "floor_mod": "remainder",
        "ge": "greater_equal",
        "greater": "greater_than",
        "gt": "greater_than",
        "le": "less_equal",
        "less": "less_than",
        "lt": "less_than",
        "mod": "remainder",
        "mul": "multiply",
        "ne": "not_equal",
        "sub": "subtract",
    }
    for alias, name in second.items():
        setattr(Tensor, alias, getattr(Tensor, name))
    for alias in ("clamp", "div", "floor_mod", "less", "mod", "mul", "sub"):
        setattr(Tensor, alias + "_", getattr(Tensor, second[alias] + "_"))


install()
install_aliases()
