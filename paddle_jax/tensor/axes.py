"""Checks of axes, lengths and indices, and calls that spread a list over several arguments."""

import functools as ft

import numpy as np

from paddle_jax._core.deferred.value import Value
from paddle_jax._core.errors import ArgumentError
from paddle_jax._core.op import _inplace, freeze
from paddle_jax._core.size import is_open
from paddle_jax._core.state import state
from paddle_jax._core.symbol import ABSTRACT
from paddle_jax._core.tensor import Tensor


def one_axis(op, axis, ndim, name="axis", error=ValueError):
    """The axis as a number in [0, ndim); a 0-D tensor has the axes -1 and 0 only where the caller says ndim 1."""
    axis = number(op, axis, name)
    if not -ndim <= axis < ndim:
        allowed = f"{-ndim}..{ndim - 1}" if ndim else "none, the tensor is 0-D"
        raise error(f"{op}: {name}={axis} is out of range for a tensor of {ndim} axes; use {allowed}")
    return axis % ndim


def many_axes(op, axes, ndim, name="axis"):
    """Axes (a number or a sequence) as a tuple of different numbers in [0, ndim)."""
    found = tuple(one_axis(op, a, ndim, name) for a in ints(op, axes, name))
    if len(set(found)) != len(found):
        raise ValueError(f"{op}: {name}: got {list(found)}; each axis may be named once")
    return found


def number(op, value, name):
    """An integer argument: an int, a NumPy integer or a Tensor of one element."""
    value = freeze(value)
    while isinstance(value, tuple) and len(value) == 1:
        value = value[0]
    if not isinstance(value, int) and not is_open(value):
        raise ArgumentError(f"{op}: {name}: got {value!r}; it must be an int")
    return value


def ints(op, values, name):
    """A list argument as a tuple of ints. An int counts as a list of one; Tensors may stand for the list or for its items."""
    values = freeze(values)
    if isinstance(values, int):
        return (int(values),)
    if is_open(values):
        return (values,)
    if not isinstance(values, tuple):
        raise ArgumentError(f"{op}: {name}: got {values!r}; it must be an int, a list, a tuple or a Tensor of ints")
    return tuple(number(op, v, name) for v in values)


def concrete(tensor):
    """The NumPy view of a tensor's value, or None while it is being traced."""
    return None if isinstance(tensor._raw, ABSTRACT) else np.asarray(tensor._value)


def untracked(tensor):
    """Whether a result of this tensor needs neither a gradient nor a trace, so that NumPy may compute it."""
    return (tensor.stop_gradient or not state.grad) and not isinstance(tensor._raw, ABSTRACT)


def bounds(index):
    """The least and the largest element; None of an empty tensor or under a trace. A value is looked at once."""
    raw = index._raw
    known = getattr(raw, "bounds", None) if type(raw) is Value else None
    if known is None:
        values = concrete(index)
        if values is None or not values.size:
            return None
        known = (values, values) if values.ndim == 0 else (values.min(), values.max())
        if type(raw) is Value:
            raw.bounds = known
    return known


def check_index(op, index, size, error=IndexError, low=None, name="index"):
    """Refuses indices outside [low, size) (low defaults to -size). JAX would clamp them without a word; under a trace nothing can be checked."""
    low = -size if low is None else low
    _check_tensor(op, index, name)
    found = bounds(index)
    if found is not None:
        least, most = found
        if not (least >= low and most < size):
            raise error(f"{op}: {name}: got {most if most >= size else least}; the axis has length {size}, use {low}..{size - 1}")


def _check_tensor(op, value, name):
    if not isinstance(value, Tensor):
        raise ArgumentError(f"{op}: {name}: got {type(value).__name__}; it must be a Tensor")


def check_index_dtype(op, index, allowed=("int32", "int64"), name="index", error=ValueError):
    """Refuses an index tensor of a dtype that is no index."""
    _check_tensor(op, index, name)
    if index._raw.dtype.name not in allowed:
        raise error(f"{op}: {name}: got dtype {index._raw.dtype.name}; allowed are {', '.join(allowed)}")


def variadic(public, at=1):
    """Lets a call spread the list argument at position `at`: x.reshape(2, 3) for x.reshape([2, 3])."""
    made = public.op

    def spread(*args, **kwargs):
        if len(args) > at + 1 and isinstance(args[at + 1], int | np.integer | Tensor):
            args = (*args[:at], args[at:])
        return public(*args, **kwargs)

    ft.update_wrapper(spread, public)
    del spread.__wrapped__
    spread.__signature__ = getattr(public, "__signature__", made.signature)
    made.public = spread
    if Tensor.__dict__.get(made.name) is public:
        setattr(Tensor, made.name, spread)
    if hasattr(public, "inplace"):
        spread.inplace = _inplace(made, spread, True)
        if hasattr(Tensor, made.name + "_"):
            setattr(Tensor, made.name + "_", spread.inplace)
    return spread


def variadic_method(function):
    """Lets a call spread the list that comes after the tensor: x.repeat(2, 1) for x.repeat([2, 1])."""

    def spread(*args, **kwargs):
        return function(*((args[0], args[1:]) if len(args) > 2 else args), **kwargs)

    ft.update_wrapper(spread, function)
    return spread
