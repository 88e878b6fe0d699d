"""Looking for elements: extrema, order, conditions."""

import collections

import jax.numpy as jnp
from jax import lax

from paddle_jax._core import dtype as dtypes
from paddle_jax._core.op import composite, op, scalar
from paddle_jax._core.dtype import default
from paddle_jax._core.tensor import Tensor, wrap
from paddle_jax.tensor.axes import number, one_axis

X_DIM = {"input": "x", "dim": "axis"}
ARG = ["f(2,3)", "f(2,3), 0", "f(2,3), -1, True", "f(2,3), keepdim=True", "i_(3,4), 1", "f()", "f(), 0", "f(2,3), 5", "f(2,3), 1, dtype='int32'", "f(2,3), 1, dtype='float32'", "f(0,3), 1",
       "const([1.0, float('nan'), 3.0])", "d(2,3), 0", "f(2,3), dim=1", "const([2.0, 5.0, 5.0])", "i_(20), -1"]


def _arg_extreme(name, find, worst, x, axis, keepdim, dtype):
    dtype = dtypes.convert(dtype).np
    if dtype.name not in ("int32", "int64"):
        raise ValueError(f"{name}: dtype: got {dtype.name}; allowed are int32, int64")
    if jnp.issubdtype(x.dtype, jnp.floating):
        x = jnp.where(jnp.isnan(x), jnp.asarray(worst, x.dtype), x)
    axis = None if axis is None else one_axis(name, axis, max(x.ndim, 1)) if x.ndim else None
    if x.size == 0 and (axis is None or x.shape[axis] == 0):
        raise ValueError(f"{name}: x: got shape {list(x.shape)}; there is no element to choose from")
    return find(x, axis=axis, keepdims=keepdim).astype(dtype)


@op(nondiff=True, alias=X_DIM, cases=ARG)
def argmax(x, axis=None, keepdim=False, dtype="int64", name=None):
    """The index of the largest element, the first one of equals; NaN is not looked at.

    Args:
        x: Tensor [...], numeric.
        axis: int, or None for the index in the flattened tensor. `dim` is accepted as a name.
        keepdim: keep the axis with length 1.
        dtype: int64 or int32.
    Returns:
        Integer Tensor.
    Raises:
        ValueError: the axis is out of range, or there is no element.
    Example:
        >>> paddle.argmax(paddle.to_tensor([1.0, 3.0, 2.0])).item()
        1
    """
    return _arg_extreme("argmax", jnp.argmax, -jnp.inf, x, axis, keepdim, dtype)


@op(nondiff=True, alias=X_DIM, cases=ARG)
def argmin(x, axis=None, keepdim=False, dtype="int64", name=None):
    """The index of the smallest element. Arguments as for `argmax`.

    Example:
        >>> paddle.argmin(paddle.to_tensor([1.0, 3.0, 2.0])).item()
        0
    """
    return _arg_extreme("argmin", jnp.argmin, jnp.inf, x, axis, keepdim, dtype)


TopKRetType = collections.namedtuple("TopKRetType", ["values", "indices"])
TopKRetType.__module__ = "paddle.tensor.search"


@composite(alias=X_DIM, out=True, cases=["f(5), 2", "f(5), const(2, 'int64')", "f(2,5), 2, 0", "f(2,5), 3, -1, False", "f(5), 6", "f(5), 0", "f(2,5), 2, 2", "f(), 1", "d(3,4), 4", "perm(7), 3, largest=False",
                                         "f(2,5), k=2, sorted=False", "const([1.0, float('nan'), 3.0]), 2", "const([1.0, float('nan'), 3.0]), 2, largest=False", "const([1.0, 1.0, 2.0, 2.0]), 3", "f(0,2), 1"])
def topk(x, k, axis=None, largest=True, sorted=True, name=None):
    """The k largest (or smallest) elements along an axis, in order, and their indices.

    Args:
        x: Tensor [...], numeric.
        k: how many, int or Tensor of one int.
        axis: Default: the last. `dim` is accepted as a name.
        largest: False looks for the smallest.
        sorted: accepted; the result is always in order.
    Returns:
        Named tuple (values, indices int64). Of equal elements the first come first.
    Raises:
        ValueError: k is not in 1..length, or the axis is out of range.
    Example:
        >>> values, indices = paddle.topk(paddle.to_tensor([1.0, 3.0, 2.0]), 2); indices.tolist()
        [1, 2]
    """
    k = number("topk", k, "k")
    axis = one_axis("topk", -1 if axis is None else axis, max(x.ndim, 1))
    length = x.shape[axis] if x.ndim else 1
    if not 1 <= k <= length:
        raise ValueError(f"topk: k={k} for an axis of length {length}; use 1..{length}")
    return TopKRetType(*_top(x, k, axis, bool(largest)))


@op(register=False, method=False)
def _top(x, k, axis, largest):
    y = jnp.moveaxis(x.reshape(1) if x.ndim == 0 else x, axis, -1)
    if largest:
        values, index = lax.top_k(y, k)
    else:
        index = lax.top_k(~y if jnp.issubdtype(y.dtype, jnp.integer) else -y, k)[1]
        values = jnp.take_along_axis(y, index, -1)
    back = [jnp.moveaxis(r, -1, axis).reshape(() if x.ndim == 0 else r.shape if axis == x.ndim - 1 else jnp.moveaxis(r, -1, axis).shape) for r in (values, index)]
    return back[0], back[1].astype(jnp.int64)


@op("condition x y", register=False, method=False, promote=("x", "y"))
def choose(condition, x, y):
    """x where the condition holds, else y: `where` on tensors."""
    try:
        jnp.broadcast_shapes(condition.shape, x.shape, y.shape)
    except ValueError:
        raise ValueError(f"where: shapes {list(condition.shape)}, {list(x.shape)}, {list(y.shape)} do not broadcast") from None
    return jnp.where(condition, x, y)


def _branch(name, value):
    if isinstance(value, bool | int | float | complex):
        return scalar(value, bool if isinstance(value, bool) else "int64" if isinstance(value, int) else dtypes.default_complex().np if isinstance(value, complex) else default().np)
    if isinstance(value, Tensor):
        return value
    raise ValueError(f"where(): argument '{name}' must be Tensor, but got {type(value).__name__}")


@composite(alias={"input": "x", "other": "y"}, out=True,
           cases=["b(3), f(3), f(3)", "b(2,1), f(3), f(2,3)", "b(3), f(3), 1.5", "b(3), f(3), 1", "b(3), 1, 2", "b(3), 1.5, 2.0", "b(3), f(3), None", "b(3)", "f(3), f(3), f(3)", "b(2), f(3), f(3)", "b(), f(3), f(1)",
                  "b(3), f(3), d(3)", "b(3), f(3), i(3)", "b(0,2), f(0,2), f(2)", "b(2,3), i(3), i(2,1)", "b(3), c(3), f(3)"])
def where(condition, x=None, y=None, name=None):
    """Takes x where the condition is true and y elsewhere; without x and y the indices of the true elements.

    Args:
        condition: bool Tensor [...].
        x, y: Tensors or numbers that broadcast with the condition. `input` and `other` are accepted as names.
    Returns:
        Tensor of the broadcast shape and common dtype; without x and y a tuple of int64 Tensors as `nonzero(condition, as_tuple=True)`.
    Raises:
        ValueError: the condition is not bool, only one of x and y is given, or shapes do not broadcast.
        TypeError: the dtypes of x and y do not promote.
    Example:
        >>> x = paddle.to_tensor([1.0, -2.0]); paddle.where(x > 0, x, 0.0).tolist()
        [1.0, 0.0]
    """
    if x is None and y is None:
        return nonzero(condition, as_tuple=True)
    if x is None or y is None:
        raise ValueError("where: x, y: got only one of them; give both or neither")
    if not isinstance(condition, Tensor) or condition._value.dtype != bool:
        raise ValueError(f"where: condition: got {getattr(condition, 'dtype', type(condition).__name__)}; it must be a bool Tensor")
    return choose(condition, _branch("x", x), _branch("y", y))


@composite(alias={"input": "x"}, out=True, cases=["i_(5)", "i_(2,3)", "i_(2,3), True", "f(3)", "b(3), as_tuple=True", "i(0)", "i()", "c(2)", "b(2,0)"])
def nonzero(x, as_tuple=False):
    """The indices of the elements that are not zero.

    Args:
        x: Tensor [...] of at least one axis.
        as_tuple: one index tensor per axis instead of a matrix.
    Returns:
        int64 Tensor [n, ndim], or a tuple of ndim int64 Tensors [n].
    Raises:
        ValueError: x is 0-D.
    Example:
        >>> paddle.nonzero(paddle.to_tensor([0, 3, 4])).tolist()
        [[1], [2]]
    """
    if x.ndim == 0:
        raise ValueError("nonzero: x: got a 0-D tensor; it needs at least one axis")
    found = jnp.nonzero(x._value)
    return tuple(wrap(i.astype(jnp.int64)) for i in found) if as_tuple else wrap(jnp.stack(found, 1).astype(jnp.int64))
