"""Looking for elements: extrema, order, conditions."""

from __future__ import annotations

import collections
import functools as ft
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.errors import ArgumentError
from paddle_jax._core.base.size import are_known, as_number, index_range, is_symbolic
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lazy_array import from_numpy
from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.ops.op import check_inplace, composite, op, scalar
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, host_value, wrap
from paddle_jax.tensor.axes import number, one_axis
from paddle_jax.tensor.gathering import take_along_axis
from paddle_jax.tensor.lowering import on_cpu, stable_order
from paddle_jax.tensor.products import along_axis

if TYPE_CHECKING:
    from paddle_jax._annotations import Axes, DTypeLike


X_DIM = {"input": "x", "dim": "axis"}
TORCH_SORT = {"input dim": "paddle.compat.sort takes torch's names and returns values and indices"}
ARG = [
    "f(), -1, True",
    "f(), 1",
    "f(2,3), 1.0",
    "f(2,3)",
    "f(2,3), 0",
    "f(2,3), -1, True",
    "f(2,3), keepdim=True",
    "i_(3,4), 1",
    "f()",
    "f(), 0",
    "f(2,3), 5",
    "f(2,3), 1, dtype='int32'",
    "f(2,3), 1, dtype='float32'",
    "f(0,3), 1",
    "const([1.0, float('nan'), 3.0])",
    "d(2,3), 0",
    "f(2,3), dim=1",
    "const([2.0, 5.0, 5.0])",
    "i_(20), -1",
]


def _arg_extreme(
    name: str,
    find: Callable[..., Any],
    worst: float,
    x: jax.Array,
    axis: float | None,
    keepdim: bool,
    dtype: str,
) -> jax.Array:
    dtype = dtypes.convert(dtype).np
    if dtype.name not in ("int32", "int64"):
        raise ValueError(f"{name}: dtype: got {dtype.name}; allowed are int32, int64")
    if jnp.issubdtype(x.dtype, jnp.floating):
        # NaN loses against any number.
        x = jnp.where(jnp.isnan(x), jnp.asarray(worst, x.dtype), x)
    if isinstance(axis, float):
        axis = int(axis)
    if axis is None:
        axis = None
    else:
        axis = one_axis(name, axis, max(x.ndim, 1))
    # Paddle keeps one axis of a number only where an axis was named.
    if x.ndim == 0:
        return jnp.zeros((1,) if keepdim and axis is not None else (), dtype)
    if x.size == 0 and (axis is None or x.shape[axis] == 0):
        raise ValueError(f"{name}: x: got shape {list(x.shape)}; there is no element to choose from")
    if on_cpu() and are_known(x.size) and _FEW < x.size <= _INT32:  # more places would fill the memory
        return _first_extreme(x, axis, keepdim, find is jnp.argmax).astype(dtype)
    return find(x, axis=axis, keepdims=keepdim).astype(dtype)


_INT32 = (1 << 31) - 1
_FEW = 1 << 12  # elements: a search takes no longer than the call


def _first_extreme(x: jax.Array, axis: int | None, keepdims: bool, largest: bool) -> jax.Array:
    """The index of the first extreme by two plain reductions; XLA:CPU does not vectorise the search
    for both at once."""
    if axis is None:
        place = _first_extreme(x.reshape(-1), 0, False, largest)
        if keepdims:
            return place.reshape((1,) * x.ndim)
        return place.reshape(())
    # Equal to the best, and the first of those.
    if largest:
        best = jnp.max(x, axis, keepdims=True)
    else:
        best = jnp.min(x, axis, keepdims=True)
    place = lax.broadcasted_iota(jnp.int32, x.shape, axis)
    last = as_number(x.shape[axis] - 1, place.dtype)
    return jnp.min(jnp.where(x == best, place, last), axis, keepdims=keepdims)


@known_as(
    pir="argmax(x,axis:i64?=0) keepdim>keepdims:bool axis>flatten:none dtype:dtype", code="reductions:argmax"
)
@op(out="unlisted", nondiff=True, alias={**X_DIM, "keepdims": "keepdim"}, cases=ARG)
def argmax(
    x: jax.Array,
    axis: Axes = None,
    keepdim: bool = False,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> jax.Array:
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


@known_as(
    pir="argmin(x,axis:i64?=0) keepdim>keepdims:bool axis>flatten:none dtype:dtype", code="reductions:argmin"
)
@op(out="unlisted", nondiff=True, alias={**X_DIM, "keepdims": "keepdim"}, cases=ARG)
def argmin(
    x: jax.Array,
    axis: Axes = None,
    keepdim: bool = False,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> jax.Array:
    """The index of the smallest element.

    Args:
        x: Tensor [...], numeric.
        axis: int, or None for the index in the flattened tensor. `dim` is accepted as a name.
        keepdim: keep the axis with length 1.
        dtype: int64 or int32.
    Returns:
        Integer Tensor.
    Example:
        >>> paddle.argmin(paddle.to_tensor([1.0, 3.0, 2.0])).item()
        0
    """
    return _arg_extreme("argmin", jnp.argmin, jnp.inf, x, axis, keepdim, dtype)


TopKRetType = collections.namedtuple("TopKRetType", ["values", "indices"])
TopKRetType.__module__ = "paddle.tensor.search"


@known_as(pir="topk(x,k:i32) axis:i32 largest:bool=True sorted:bool=True", code="reductions:topk")
@composite(
    alias=X_DIM,
    out=True,
    cases=[
        "f(5), 2.0",
        "'a', 1",
        "f(5), const(2, 'int64')",
        "f(2,5), 2, 0",
        "f(2,5), 3, -1, False",
        "f(5), 6",
        "f(5), 0",
        "f(2,5), 2, 2",
        "f(), 1",
        "d(3,4), 4",
        "perm(7), 3, largest=False",
        "f(2,5), k=2, sorted=False",
        "const([1.0, float('nan'), 3.0]), 2",
        "const([1.0, float('nan'), 3.0]), 2, largest=False",
        "const([1.0, 1.0, 2.0, 2.0]), 3",
        "f(0,2), 1",
    ],
)
def topk(
    x: Tensor, k: Any, axis: Any = None, largest: bool = True, sorted: bool = True, name: str | None = None
) -> Any:
    """The k largest (or smallest) elements along an axis, in order, and their indices.

    Args:
        x: Tensor [...], numeric.
        k: how many, int or Tensor of one int.
        axis: Default: the last. `dim` is accepted as a name.
        largest: False looks for the smallest.
        sorted: accepted; the result is always in order.
        out: tuple of two Tensors that receive values and indices.
    Returns:
        Named tuple (values, indices int64). Of equal elements the first come first.
    Raises:
        ValueError: k is not in 1..length, or the axis is out of range.
    Example:
        >>> values, indices = paddle.topk(paddle.to_tensor([1.0, 3.0, 2.0]), 2); indices.tolist()
        [1, 2]
    """
    if not isinstance(x, Tensor):
        raise ArgumentError(f"topk: x: got {type(x).__name__}; it must be a Tensor")
    k = number("topk", int(k) if isinstance(k, float) else k, "k")
    axis = one_axis("topk", -1 if axis is None else axis, max(x.ndim, 1))
    length = x.shape[axis] if x.ndim else 1
    if not 1 <= k <= length:
        raise ValueError(f"topk: k={k} for an axis of length {length}; use 1..{length}")
    return TopKRetType(*_top(x, k, axis, bool(largest)))


@known_as(pir="topk")
@op(register=False, method=False)
def _top(x: jax.Array, k: int, axis: Axes, largest: bool) -> tuple[jax.Array, jax.Array]:
    # The search runs along the last axis.
    y = jnp.moveaxis(x.reshape(1) if x.ndim == 0 else x, axis, -1)
    if largest:
        values, index = lax.top_k(y, k)
    else:
        # The smallest ones are the largest of the negated; ~ has no overflow for the least integer.
        index = lax.top_k(~y if jnp.issubdtype(y.dtype, jnp.integer) else -y, k)[1]
        # The elements themselves, as -y would change the sign of zeros.
        values = along_axis(y, index, -1)
    values, index = (r.reshape(()) if x.ndim == 0 else jnp.moveaxis(r, -1, axis) for r in (values, index))
    return values, index.astype(jnp.int64)


@known_as(code="indexing:choose", node="where")
@op("condition x y", register=False, method=False, promote=("x", "y"))
def choose(condition: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    """x where the condition holds, else y: `where` on tensors."""
    try:
        jnp.broadcast_shapes(condition.shape, x.shape, y.shape)
    except ValueError:
        raise ValueError(
            f"where: shapes {list(condition.shape)}, {list(x.shape)}, {list(y.shape)} do not broadcast"
        ) from None
    return jnp.where(condition, x, y)


def _branch(name: str, value: Any) -> Tensor:
    if isinstance(value, bool | int | float | complex | np.number | np.bool_):
        # A number takes the dtype that Paddle gives it beside a tensor.
        dtype = dtypes.number_np(value)
        return scalar(value, dtype) if is_length(value) else wrap(np.asarray(value, dtype))
    if isinstance(value, Tensor):
        return value
    raise ArgumentError(f"where(): argument '{name}' must be Tensor, but got {type(value).__name__}")


@known_as(pir="where", onnx="Where")
@composite(
    alias={"input": "x", "other": "y"},
    out=True,
    cases=[
        "b(3), f(3), f(3)",
        "b(2,1), f(3), f(2,3)",
        "b(3), f(3), 1.5",
        "b(3), f(3), 1",
        "b(3), 1, 2",
        "b(3), 1.5, 2.0",
        "b(3), f(3), None",
        "b(3)",
        "f(3), f(3), f(3)",
        "b(2), f(3), f(3)",
        "b(), f(3), f(1)",
        "b(3), f(3), d(3)",
        "b(3), f(3), i(3)",
        "b(0,2), f(0,2), f(2)",
        "b(2,3), i(3), i(2,1)",
        "b(3), c(3), f(3)",
    ],
)
def where(
    condition: Tensor, x: Any = None, y: Any = None, name: str | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Takes x where the condition is true and y elsewhere; without x and y the indices of the true elements.

    Args:
        condition: bool Tensor [...].
        x, y: Tensors or numbers that broadcast with the condition. `input` and `other` are accepted as names.
        out: Tensor that receives the result.
    Returns:
        Tensor of the broadcast shape and common dtype; without x and y a tuple of int64 Tensors as
        `nonzero(condition, as_tuple=True)`.
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
    if not isinstance(condition, Tensor) or numpy_dtype(condition) != np.bool_:
        raise ArgumentError(
            f"where: condition: got {getattr(condition, 'dtype', type(condition).__name__)}; "
            "it must be a bool Tensor"
        )
    return choose(condition, _branch("x", x), _branch("y", y))


@known_as(code="selections:nonzero")
@composite(
    alias={"input": "x"},
    out=True,
    cases=[
        "i_(5)",
        "i_(2,3)",
        "i_(2,3), True",
        "f(3)",
        "b(3), as_tuple=True",
        "i(0)",
        "i()",
        "c(2)",
        "b(2,0)",
    ],
)
def nonzero(x: Tensor, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """The indices of the elements that are not zero.

    Args:
        x: Tensor [...] of at least one axis.
        as_tuple: one index tensor per axis instead of a matrix.
        out: Tensor that receives the result.
    Returns:
        int64 Tensor [n, ndim], or a tuple of ndim int64 Tensors [n].
    Raises:
        ValueError: x is 0-D.
    Example:
        >>> paddle.nonzero(paddle.to_tensor([0, 3, 4])).tolist()
        [[1], [2]]
    """
    # A 0-D tensor has no index.
    if x.ndim == 0:
        raise ValueError("nonzero: x: got a 0-D tensor; it needs at least one axis")
    # How many there are is the shape of the result, so the host has to look.
    found = host_value(x, "nonzero", "use paddle_jax.bounded.nonzero(x, size) there").nonzero()
    if as_tuple:
        return tuple(wrap(from_numpy(i)) for i in found)
    if len(found) == 1:
        return wrap(from_numpy(found[0].reshape(-1, 1)))
    return wrap(from_numpy(np.stack(found, 1)))


@composite(cases=["i_(5)", "i_(2,3)", "i()"])
def argwhere(input: Any) -> Tensor:
    """The indices of the elements that are not zero, as a matrix. See `nonzero`.

    Args:
        input: Tensor [...].
    Returns:
        int64 Tensor [n, ndim].
    Example:
        >>> paddle.argwhere(paddle.to_tensor([0, 3])).tolist()
        [[1]]
    """
    return nonzero(input)


def where_(
    condition: Tensor, x: Tensor | None = None, y: Tensor | None = None, name: str | None = None
) -> Tensor:
    """In-place where: puts the result into x and returns it. See `where`.

    Args:
        condition: bool Tensor [...].
        x, y: Tensors that broadcast with the condition; x has the broadcast shape.
    Returns:
        The Tensor `x`.
    Raises:
        ValueError: the result is larger than x.
    Example:
        >>> x = paddle.to_tensor([1.0, -2.0]); paddle.where_(x > 0, x, paddle.zeros([2])).tolist()
        [1.0, 0.0]
    """
    check_inplace("where_", x)
    result = where(condition, x, y)
    if list(result.shape) != list(x.shape):
        raise ValueError(
            f"where_: the result has shape {list(result.shape)}; an in-place operation keeps {list(x.shape)}"
        )
    return x._adopt(result)


Tensor.where_ = where_


# order ------------------------------------------------------------------------------------------------------


def _order(name: str, x: jax.Array, axis: int, descending: bool) -> jax.Array:
    """Indices that sort x; equal elements keep their order, NaN counts as larger than all."""
    if x.ndim == 0:
        # A number has nothing to sort, but a wrong axis is refused.
        one_axis(name, axis, 1)
        return jnp.zeros((), jnp.int64)
    return stable_order(x, one_axis(name, axis, x.ndim), descending).astype(jnp.int64)


SORT = [
    "f(5)",
    "f(2,3), 0",
    "f(2,3), -1, True",
    "i_(6), stable=True",
    "i_(6), descending=True, stable=True",
    "f(2,3), 2",
    "f()",
    "f(0,2)",
    "const([3.0, 1.0, float('nan'), 2.0])",
    "const([3.0, 1.0, float('nan'), 2.0]), descending=True",
    "d(2,3,4), 1",
    "i32(4)",
]


@known_as(pir="argsort->x,out axis:i32 descending:bool=False stable:bool=False", code="reductions:argsort")
@op(nondiff=True, alias=X_DIM, cases=SORT)
def argsort(
    x: jax.Array, axis: Axes = -1, descending: bool = False, stable: bool = False, name: str | None = None
) -> jax.Array:
    """The indices that sort along an axis.

    Args:
        x: Tensor [...].
        axis: int. `dim` is accepted as a name.
        descending: largest first.
        stable: accepted; equal elements always keep their order.
    Returns:
        int64 Tensor of the shape of x. NaN counts as larger than all numbers.
    Raises:
        ValueError: the axis is out of range.
    Example:
        >>> paddle.argsort(paddle.to_tensor([3, 1, 2])).tolist()
        [1, 2, 0]
    """
    return _order("argsort", x, axis, descending)


@known_as(pir="argsort->out,_ axis:i32 descending:bool=False stable:bool=False")
@op(refuses=TORCH_SORT, cases=SORT)
def sort(
    x: jax.Array, axis: Axes = -1, descending: bool = False, stable: bool = False, name: str | None = None
) -> jax.Array:
    """Sorts along an axis.

    Args:
        x: Tensor [...].
        axis: int. `dim` is accepted as a name.
        descending: largest first.
        stable: accepted; equal elements always keep their order.
    Returns:
        Tensor of the shape and dtype of x. NaN counts as larger than all numbers.
    Example:
        >>> paddle.sort(paddle.to_tensor([3, 1, 2]), descending=True).tolist()
        [3, 2, 1]
    """
    if x.ndim == 0:
        one_axis("sort", axis, 1)
        return x
    axis = one_axis("sort", axis, x.ndim)
    # The gradient goes through the elements, the order is constant.
    return along_axis(x, _order("sort", lax.stop_gradient(x), axis, descending), axis)


@composite(out=True, cases=["f(3,2)", "f(4)", "i_(5)"])
def msort(input: Tensor) -> Tensor:
    """Sorts along the first axis.

    Args:
        input: Tensor [n, ...].
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape and dtype of input.
    Example:
        >>> paddle.msort(paddle.to_tensor([[3, 1], [2, 5]])).tolist()
        [[2, 1], [3, 5]]
    """
    return sort(input, 0)


# ~: for a 0-d tensor the real Paddle's gradient ignores what comes from above
@known_as(pir="kthvalue k:i64 axis:i32?=-1 keepdim:bool=False")
@op(
    cases=[
        "f(5), 2",
        "f(2,3), 2, 0, True",
        "f(2,3), 4",
        "f(2,3), 0",
        "f(2,3), 1, 3",
        "~f(), 1",
        "perm(5), 3",
        "d(2,4), k=4, axis=1",
    ]
)
def kthvalue(
    x: jax.Array, k: Any, axis: Axes = None, keepdim: bool = False, name: str | None = None
) -> tuple[jax.Array, jax.Array]:
    """The k-th smallest element along an axis, and its index.

    Args:
        x: Tensor [...].
        k: int, 1 for the smallest.
        axis: Default: the last.
        keepdim: keep the axis with length 1.
    Returns:
        Tuple (values, indices int64).
    Raises:
        ValueError: k or the axis is out of range.
    Example:
        >>> value, index = paddle.kthvalue(paddle.to_tensor([3.0, 1.0, 2.0]), 2); value.item()
        2.0
    """
    k = number("kthvalue", k, "k")
    axis = one_axis("kthvalue", -1 if axis is None else axis, max(x.ndim, 1))
    # A number counts as an axis of length 1.
    length = x.shape[axis] if x.ndim else 1
    if not 1 <= k <= length:
        raise ValueError(f"kthvalue: k={k} for an axis of length {length}; use 1..{length}")
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    # A whole sort: XLA has no selection of the k-th element.
    order = stable_order(lax.stop_gradient(x), axis)
    return _picked(x, lax.slice_in_dim(order, k - 1, k, axis=axis), axis, keepdim)


def _picked(
    x: jax.Array, index: jax.Array, axis: int, keepdim: bool
) -> tuple[jax.Array, Any] | tuple[jax.Array, jax.Array]:
    values = along_axis(x, index, axis)
    index = index.astype(jnp.int64)
    if keepdim:
        return (values, index)
    return (jnp.squeeze(values, axis), jnp.squeeze(index, axis))


# ~: as for kthvalue
@known_as(pir="mode axis:i32 keepdim:bool=False")
@op(
    cases=[
        "const([1.0, 2.0, 2.0, 3.0])",
        "const([1.0, 1.0, 2.0, 2.0])",
        "i_(3,5), 0",
        "i_(3,5), 1, True",
        "f(2,3)",
        "f(2,3), 3",
        "~f()",
        "f(2,3), -2",
    ]
)
def mode(
    x: jax.Array, axis: Axes = -1, keepdim: bool = False, name: str | None = None
) -> tuple[jax.Array, jax.Array]:
    """The most frequent element along an axis, the smallest of equally frequent ones, and its last index.

    Args:
        x: Tensor [...].
        axis: int.
        keepdim: keep the axis with length 1.
    Returns:
        Tuple (values, indices int64).
    Raises:
        ValueError: the axis is out of range or has length 0.
    Example:
        >>> value, index = paddle.mode(paddle.to_tensor([1, 2, 2])); (value.item(), index.item())
        (2, 2)
    """
    axis = one_axis("mode", axis, max(x.ndim, 1))
    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    length = x.shape[axis]
    if length == 0:
        raise ValueError(
            f"mode: axis {axis} of shape {list(x.shape)} has length 0; there is no element to choose"
        )
    values = jnp.moveaxis(lax.stop_gradient(x), axis, -1)
    # Equal elements are neighbours then.
    order = stable_order(values)
    ranked = along_axis(values, order, -1)
    # Where a run of equal elements begins.
    fresh = jnp.concatenate(
        [jnp.ones((*ranked.shape[:-1], 1), bool), ranked[..., 1:] != ranked[..., :-1]], -1
    )
    place = index_range(length)
    # How far into its run each element is; the longest run ends at the largest number.
    runs = place - lax.cummax(jnp.where(fresh, place, 0), axis=ranked.ndim - 1)
    # argmax takes the first, so the smallest of equally frequent elements.
    last = jnp.argmax(runs, -1, keepdims=True)
    return _picked(x, jnp.moveaxis(jnp.take_along_axis(order, last, -1), -1, axis), axis, keepdim)


# sorted sequences -------------------------------------------------------------------------------------------


def _count_before(rows: jax.Array, wanted: jax.Array, right: bool) -> jax.Array:
    """As `searchsorted`, where the length of the sequences stands for every number."""
    if rows.ndim > 1:
        rows = rows[..., None, :]
    wanted = wanted[..., None]
    # NaN comes behind all numbers.
    is_before = (rows <= wanted if right else rows < wanted) | jnp.isnan(wanted)
    return is_before.sum(-1)


@known_as(pir="searchsorted")
@op("sorted_sequence values", nondiff=True, register=False, method=False, out=True)
def find_sorted(sorted_sequence: jax.Array, values: jax.Array, out_int32: bool, right: bool) -> jax.Array:
    """Where values belong in a sorted sequence, row by row."""
    side = "right" if right else "left"
    dtype = jnp.int32 if out_int32 else jnp.int64
    # Both sides are compared in their common dtype.
    common = jnp.promote_types(sorted_sequence.dtype, values.dtype)
    rows = sorted_sequence.astype(common)
    wanted = values.astype(common)
    if is_symbolic(rows.shape[-1]):
        return _count_before(rows, wanted, right).astype(dtype)
    if rows.ndim > 1:
        # Each row has a sequence of its own.
        found = jax.vmap(ft.partial(jnp.searchsorted, side=side))(
            rows.reshape(-1, rows.shape[-1]), wanted.reshape(-1, wanted.shape[-1])
        )
        return found.reshape(values.shape).astype(dtype)
    return jnp.searchsorted(rows, wanted, side=side).astype(dtype)


def _by_sorter(op: str, sequence: Tensor, sorter: Tensor) -> Tensor:
    if list(sorter.shape) != list(sequence.shape):
        raise ValueError(
            f"{op}: sorter: got shape {list(sorter.shape)}; the sequence has {list(sequence.shape)}"
        )
    return take_along_axis(sequence, sorter, sequence.ndim - 1)


@known_as(pir="searchsorted out_int32:bool=False right:bool=False")
@composite(
    alias={"input": "values"},
    method=False,
    cases=[
        "const([1.0, 3.0, 5.0]), const([0.0, 3.0, 6.0])",
        "const([1.0, 3.0, 5.0]), const([0.0, 3.0, 6.0]), right=True",
        "const([1.0, 3.0, 5.0]), const([0.0, 3.0, 6.0]), True",
        "const([1.0, 3.0, 5.0]), const(3.0)",
        "const([1.0, 3.0, 5.0]), 3.0",
        "const([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]), const([[3.0], [3.0]])",
        "const([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]), const([3.0])",
        "const([1.0, 3.0, 5.0]), const([3.0]), side='right'",
        "const([5.0, 1.0, 3.0]), const([3.0]), sorter=const([1, 2, 0], 'int64')",
        "const([1, 3, 5], 'int64'), const([3, 4], 'int64')",
        "const([1.0, 3.0, 5.0]), const([float('nan')])",
        "const([1.0, 3.0]), f(2,3)",
    ],
)
def searchsorted(
    sorted_sequence: Tensor,
    values: Tensor,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
    *,
    side: str | None = None,
    out: Tensor | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Where values would be inserted into sorted sequences so that they stay sorted.

    Args:
        sorted_sequence: Tensor [n] or [..., n], sorted along the last axis.
        values: Tensor of any shape for a 1-D sequence, otherwise [..., m]. `input` is accepted as a name.
        out_int32: int32 instead of int64.
        right: insert after equal elements instead of before. `side="right"` says the same.
        out: Tensor that receives the result.
        sorter: int Tensor of the shape of the sequence: indices that sort it.
    Returns:
        Integer Tensor of the shape of values.
    Raises:
        RuntimeError: the leading axes differ.
        ValueError: an argument is not a Tensor.
    Example:
        >>> paddle.searchsorted(paddle.to_tensor([1, 3, 5]), paddle.to_tensor([0, 3, 9])).tolist()
        [0, 1, 3]
    """
    if not isinstance(values, Tensor) or not isinstance(sorted_sequence, Tensor):
        raise ValueError(
            f"searchsorted: got {type(sorted_sequence).__name__} and {type(values).__name__}; "
            "both must be Tensors"
        )
    if sorted_sequence.ndim > 1 and list(sorted_sequence.shape[:-1]) != list(values.shape[:-1]):
        got = f"{list(values.shape)} for sequences of shape {list(sorted_sequence.shape)}"
        raise RuntimeError(f"searchsorted: values: got shape {got}; all but the last axis must agree")
    if sorter is None:
        sequence = sorted_sequence
    else:
        sequence = _by_sorter("searchsorted", sorted_sequence, sorter)
    return find_sorted(sequence, values, bool(out_int32), bool(right or side == "right"), out=out)


@composite(
    alias={"input": "x", "boundaries": "sorted_sequence"},
    out=True,
    cases=[
        "const([0.0, 3.0, 6.0]), const([1.0, 3.0, 5.0])",
        "const([0.0, 3.0, 6.0]), const([1.0, 3.0, 5.0]), right=True",
        "const([0.0, 3.0, 6.0]), const([[1.0, 3.0, 5.0]])",
        "3.0, const([1.0, 3.0])",
        "f(2,3), const([-1.0, 0.0, 1.0]), True",
    ],
)
def bucketize(
    x: Tensor, sorted_sequence: Tensor, out_int32: bool = False, right: bool = False, name: str | None = None
) -> Tensor:
    """In which interval between sorted boundaries each element lies. See `searchsorted`.

    Args:
        x: Tensor [...].
        sorted_sequence: 1-D Tensor of boundaries. `boundaries` is accepted as a name.
        out_int32: int32 instead of int64.
        right: an element equal to a boundary belongs to the interval after it.
        out: Tensor that receives the result.
    Returns:
        int Tensor of the shape of x: how many boundaries are smaller than each element.
    Raises:
        ValueError: the boundaries are not 1-D.
    Example:
        >>> paddle.bucketize(paddle.to_tensor([0, 4]), paddle.to_tensor([1, 3, 5])).tolist()
        [0, 2]
    """
    if sorted_sequence.ndim != 1:
        raise ValueError(
            f"bucketize: sorted_sequence: got a tensor of {sorted_sequence.ndim} axes; it must be 1-D"
        )
    return searchsorted(sorted_sequence, x, out_int32, right)
