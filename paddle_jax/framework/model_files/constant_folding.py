"""PIR operations on numbers that are known on the host, in NumPy: sizes, and what programs
compute from sizes.

Kept out of JAX so that shapes, axes and loop bounds stay numbers while a program is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.lazy.length_expressions import FUNCTIONS

LIMIT = 4096  # elements; larger results are Tensors


def np_dtype(name: str) -> np.dtype:
    """The NumPy dtype of a name in a program."""
    return dtypes.convert(name).np


def _slice(a: Any, x: np.ndarray, starts: np.ndarray, ends: np.ndarray, strides: Any = None) -> np.ndarray:
    index = [slice(None)] * x.ndim
    for i, axis in enumerate(a.axes):
        step = 1 if strides is None else int(strides[i])
        end = int(ends[i])
        index[axis] = slice(
            int(starts[i]),
            # `x[-1]` is a slice from -1 to -1 whose axis is dropped. Taken as it stands it would be empty.
            None if end == -1 and starts[i] == -1 and axis in getattr(a, "decrease_axis", ()) else end,
            step,
        )
    found = x[tuple(index)]
    dropped = tuple(getattr(a, "decrease_axis", ()))
    return found.reshape([n for axis, n in enumerate(found.shape) if axis not in dropped])


def _scale(a: Any, x: Any, factor: Any) -> np.ndarray:
    if a.bias_after_scale:
        y = x * factor.item() + a.bias
    else:
        y = (x + a.bias) * factor.item()
    return np.asarray(y).astype(x.dtype)


def _reshape(x: Any, shape: Any) -> Any:
    # 0 stands for the length of x, unless x is empty
    # An axis of length 0 stands for itself, when x has no elements.
    return x.reshape([x.shape[i] if n == 0 and x.size else int(n) for i, n in enumerate(shape)])


def _squeeze(x: Any, axes: Any) -> Any:
    if len(axes):
        chosen = [int(i) % x.ndim for i in axes]
    else:
        # An axis of another length stays.
        chosen = range(x.ndim)
    return x.reshape([n for i, n in enumerate(x.shape) if i not in chosen or n != 1])


def _reduced(function: Any) -> Callable[..., Any]:
    return lambda a, x, axes: function(x, axis=tuple(int(i) for i in axes) or None, keepdims=a.keepdim)


def _binary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, x, y: function(x, y)


def _unary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, x: function(x)


HOST = {
    "full_int_array": lambda a: np.array(a.value, np.int64),
    "full": lambda a: np.full(a.shape, a.value, np_dtype(a.dtype)),
    "assign_value_": lambda a, x: np.array(a.values, np_dtype(a.dtype)).reshape(a.shape),
    "arange": lambda a, start, end, step: np.arange(start.item(), end.item(), step.item()).astype(
        np_dtype(a.dtype)
    ),
    "full_with_tensor": lambda a, value, shape: np.full(
        np.asarray(shape).ravel().tolist(), value.item(), np_dtype(a.dtype)
    ),
    "assign": lambda a, x: x,
    "share_data_": lambda a, x: x,
    "assign_out_": lambda a, x, out: x,
    "cast": lambda a, x: x.astype(np_dtype(a.dtype)),
    "increment_": lambda a, x: (x + a.value).astype(x.dtype),
    "slice": _slice,
    "strided_slice": _slice,
    "scale": _scale,
    "reshape": lambda a, x, shape: _reshape(x, shape),
    "squeeze": lambda a, x, axes: _squeeze(x, axes),
    "unsqueeze": lambda a, x, axes: np.expand_dims(x, [int(i) for i in axes]),
    "transpose": lambda a, x: x.transpose(a.perm),
    "flatten": lambda a, x: (
        x.reshape([*x.shape[: a.start_axis], -1, *x.shape[a.stop_axis % x.ndim + 1 :]])
        if x.ndim
        else x.reshape(1)
    ),
    "concat": lambda a, xs, axis: np.concatenate(xs, axis.item()),
    "stack": lambda a, xs: np.stack(xs, a.axis),
    "gather": lambda a, x, index, axis: np.take(x, index, axis.item()),
    "sum": _reduced(np.sum),
    "any": lambda a, x: np.any(x, tuple(a.axis) or None, keepdims=a.keepdim),
    "prod": _reduced(np.prod),
    "max": _reduced(np.max),
    "min": _reduced(np.min),
    "where": lambda a, test, x, y: np.where(test, x, y),
    "logical_not": lambda a, x: np.logical_not(x),
    "numel": lambda a, x: np.array(x.size, np.int64),
    "floor": lambda a, x: np.floor(x),
    "ceil": lambda a, x: np.ceil(x),
    "abs": lambda a, x: np.abs(x),
    "round": lambda a, x: np.round(x),
    **{
        name: _unary(getattr(np, name))
        for name in ("trunc", "sqrt", "exp", "log", "log2", "log10", "bitwise_not", "sign", *FUNCTIONS)
    },
    "atan": _unary(np.arctan),
    # In the dtype of x, as a float exponent would make whole numbers floats.
    "pow": lambda a, x: np.power(x, np.asarray(a.y, x.dtype)),
}
_BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "floor_divide": np.floor_divide,
    "remainder": np.mod,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less_than": np.less,
    "less_equal": np.less_equal,
    "greater_than": np.greater,
    "greater_equal": np.greater_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "divide": np.divide,
    "elementwise_pow": np.power,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}
_BROADCAST = ("where", *_BINARY)
HOST |= {name: _binary(function) for name, function in _BINARY.items()}


def known(value: Any) -> bool:
    """Whether a value of a program is a number on the host, or a list of such."""
    return isinstance(value, np.ndarray) or (isinstance(value, list) and all(map(known, value)))


def _elements(name: str, attrs: Any, operands: Sequence[np.ndarray]) -> Any:
    """About how many elements a result has, before memory for it is asked for. Operands have LIMIT at most,
    so what is not listed has no more."""
    if name in ("full", "assign_value_"):
        return np.prod(attrs.shape, dtype=float)
    if name == "full_with_tensor":
        return np.prod(operands[1], dtype=float)
    if name == "arange":
        # The number of steps, before the array is made.
        return (operands[1] - operands[0]).item() / operands[2].item()
    if name in ("concat", "stack"):
        return sum(x.size for x in operands[0])
    if name == "gather":
        x, index, axis = operands
        return x.size / max(1, x.shape[axis.item()]) * index.size
    if name in _BROADCAST:
        return np.prod(np.broadcast_shapes(*[x.shape for x in operands]), dtype=float)
    return 0


def fold(op: Callable[..., Any], attrs: Any, operands: Any) -> np.ndarray | None:
    """The result of an operation as an ndarray, or None when it has to be computed by JAX."""
    rule = HOST.get(op.name)
    if rule is None or not all(map(known, operands)):
        return None
    # A file may ask for any shape: memory is not asked for on its word.
    if _elements(op.name, attrs, operands) > LIMIT:
        return None
    # Paddle's integers overflow without a warning, too.
    with np.errstate(all="ignore"):
        found = np.asarray(rule(attrs, *operands))
    if found.size <= LIMIT:
        return found
    return None
