"""Putting values at indices: scatter and index_* functions; masked.py has those with a mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.error_kinds import without_kind
from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lazy_array import persistent_from_numpy
from paddle_jax._core.lazy.lengths import is_length
from paddle_jax._core.ops.op import check_inplace, composite, op, scalar
from paddle_jax._core.tensors.held_values import numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import Tensor, host_value, wrap
from paddle_jax.tensor.axes import check_index, check_index_dtype, ints, one_axis
from paddle_jax.tensor.creation import clone, fill, filled
from paddle_jax.tensor.gathering import check_points, check_within, fit_index
from paddle_jax.tensor.manipulation import expand, reshape

if TYPE_CHECKING:
    from paddle_jax._core.lazy.lengths import OpenSize


REDUCE = {
    "assign": "set",
    "add": "add",
    "mul": "mul",
    "multiply": "mul",
    "mean": "mean",
    "amax": "max",
    "amin": "min",
}


# elements along an axis -------------------------------------------------------------------------------------


def _spots(index: jax.Array, axis: int) -> tuple[jax.Array, ...]:
    """The full coordinates of `index` along the axis."""
    # Sparse: each axis has its numbers along its own axis and broadcasts over the others.
    at = list(jnp.indices(index.shape, sparse=True))
    at[axis] = index
    return tuple(at)


@jax.custom_jvp
def _multiplied(x: jax.Array, at: Sequence[jax.Array], values: jax.Array) -> jax.Array:
    return x.at[at].multiply(values)


@_multiplied.defjvp
def _multiplied_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The derivative of a product by each factor is the product of the others; a division finds it unless
    there is a zero."""
    (x, at, values), (dx, _, dv) = primals, tangents
    # How many factors at each place are zero.
    zeros = (x == 0).astype(jnp.int32).at[at].add((values == 0).astype(jnp.int32))
    # The product of those that are not.
    product = _multiplied(jnp.where(x == 0, 1, x), at, jnp.where(values == 0, 1, values))

    def others(factor: jax.Array, count: jax.Array, whole: jax.Array) -> jax.Array:
        return jnp.where(
            factor == 0,
            # The one zero has the product of the others as its derivative; two zeros have none.
            jnp.where(count == 1, whole, 0),
            jnp.where(count == 0, whole / jnp.where(factor == 0, 1, factor), 0),
        )

    change = others(x, zeros, product) * dx
    return _multiplied(x, at, values), change.at[at].add(others(values, zeros[at], product[at]) * dv)


def _averaged(x: jax.Array, at: Sequence[jax.Array], values: jax.Array, include_self: bool) -> jax.Array:
    """The mean of the values at each place, with or without what was there."""
    hit = jnp.zeros(x.shape, jnp.int32).at[at].add(1)
    if include_self:
        start = x
        count = hit + 1
    else:
        start = jnp.where(hit > 0, 0, x)
        # A place without values is not divided by 0.
        count = jnp.maximum(hit, 1)
    total = start.at[at].add(values)
    if jnp.issubdtype(x.dtype, jnp.integer):
        # Whole numbers are divided towards zero, as in C.
        return jnp.where(hit > 0, jax.lax.div(total, count.astype(x.dtype)), x)
    return jnp.where(hit > 0, total / count.astype(x.dtype), x)


@known_as(code="indexing:put_elements")
@op("x index values", register=False, method=False)
def put_elements(
    x: jax.Array, index: jax.Array, values: jax.Array, axis: Any, how: str, include_self: bool
) -> jax.Array:
    """x with values put, added, multiplied, ... at `index` along the axis."""
    at = _spots(jnp.where(index < 0, index + x.shape[axis], index), axis)
    values = jnp.broadcast_to(values, index.shape)
    if how == "mean":
        return _averaged(x, at, values, include_self)
    if not include_self and how != "set":
        start = {"add": 0, "mul": 1}.get(how)
        # The neutral element takes the place of what was there.
        x = x.at[at].set(jnp.asarray(_edge(x.dtype, how) if start is None else start, x.dtype))
    if how == "mul":
        return _multiplied(x, at, values)
    spot = x.at[at]
    return {"set": spot.set, "add": spot.add, "max": spot.max, "min": spot.min}[how](values)


def _edge(dtype: np.dtype, how: str) -> Any:
    if jnp.issubdtype(dtype, jnp.floating):
        info = jnp.finfo(dtype)
    else:
        info = jnp.iinfo(dtype)
    if how == "max":
        return info.min
    return info.max


def values_for(op: Any, x: Any, values: Any, name: str = "values") -> Any:
    """The values as a Tensor of the dtype of x; a number becomes 0-D."""
    # A number becomes an operand, so that each value does not compile a program.
    if not isinstance(values, Tensor):
        number = fill(op, values, numpy_dtype(x))
        return scalar(number, numpy_dtype(x)) if is_length(number) else wrap(np.asarray(number))
    if numpy_dtype(values) != numpy_dtype(x):
        raise ValueError(
            f"{op}: {name}: got dtype {numpy_dtype(values).name} for a tensor of "
            f"{numpy_dtype(x).name}; cast it with astype"
        )
    return values


@known_as(pir="put_along_axis axis:i32 reduce:str include_self:bool=True")
@composite(
    inplace=True,
    cases=[
        "f(2,3), const([[0], [1]], 'int64'), 9.0, 1",
        "f(2,3), const([[0]], 'int64'), 9.0, 1",
        "f(2,3), const([[0]], 'int64'), 9.0, 1, broadcast=False",
        "f(2,3), const([[0, 2]], 'int64'), f(1,2), 1",
        "f(2,3), const([[0, 0]], 'int64'), f(1,2), 1, 'add'",
        "f(2,3), const([[0, 0]], 'int64'), f(1,2), 1, 'mul'",
        "f(2,3), const([[0, 1]], 'int64'), f(2,2), 1, 'multiply'",
        "f(2,3), const([[0, 0]], 'int64'), f(1,2), 1, 'mean'",
        "f(2,3), const([[0, 1]], 'int64'), f(1,2), 1, 'amax'",
        "f(2,3), const([[0, 1]], 'int64'), f(1,2), 1, 'amin'",
        "f(2,3), const([[0, 0]], 'int64'), f(1,2), 1, 'add', include_self=False",
        "f(2,3), const([[0, 0]], 'int64'), f(1,2), 1, 'mul', include_self=False",
        "f(2,3), const([[0, 0]], 'int64'), f(1,2), 1, 'mean', include_self=False",
        "i(2,3), const([[0, 0]], 'int64'), i(1,2), 1, 'amax', include_self=False",
        "i(2,3), const([[0, 0]], 'int64'), i(1,2), 1, 'amin', include_self=False",
        "pos_i(2,3), const([[0, 1]], 'int64'), pos_i(1,2), 1, 'mean'",
        "f(2,3), const([[0]], 'int64'), 1.0, 1, 'foo'",
        "f(2,3), const([[0, 3]], 'int64'), 1.0, 1",
        "~f(2,3), const([[0, -1]], 'int64'), 1.0, 1",
        "f(2,3), const([[0]], 'int64'), i(1,1), 1",
        "f(3,2), idx32(3,1,2), f(1,2), 0",
        "f(2,3), const([0], 'int64'), 1.0, 0",
        "f(2,3), const([[0]], 'int64'), 1.0, 4",
    ],
)
def put_along_axis(
    arr: Tensor,
    indices: Tensor,
    values: Any,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Tensor:
    """Puts one value per index along an axis: out[i][indices[i][j]] = values[i][j] for axis 1.

    Args:
        arr: Tensor [...].
        indices: int32 or int64 Tensor of as many axes; negative indices count from the end.
        values: Tensor that broadcasts to indices, or a number.
        axis: int.
        reduce: "assign", "add", "mul" ("multiply"), "mean", "amax" or "amin": how a value
            meets what is there.
        include_self: False leaves out what was there before.
        broadcast: broadcast indices against arr along the other axes.
    Returns:
        Tensor of the shape of arr.
    Raises:
        IndexError: an index is out of range.
        ValueError: reduce is unknown, or shapes or dtypes do not fit.
    Example:
        >>> paddle.put_along_axis(paddle.zeros([2, 2]), paddle.to_tensor([[1], [0]]), 9.0, 1).tolist()
        [[0.0, 9.0], [9.0, 0.0]]
    """
    name = "put_along_axis"
    if arr.ndim != indices.ndim:
        raise ValueError(
            f"{name}: indices: got shape {list(indices.shape)} for a tensor of shape "
            f"{list(arr.shape)}; both need as many axes"
        )
    if reduce not in REDUCE:
        raise ValueError(f"{name}: reduce: got {reduce!r}; allowed are {', '.join(REDUCE)}")
    axis = one_axis(name, axis, arr.ndim, error=AssertionError)
    check_index_dtype(name, indices, ("int16", "int32", "int64", "uint8"), "indices")
    check_index(name, indices, arr.shape[axis])
    if broadcast:
        arr, indices = fit_index(name, arr, indices, axis)
    else:
        check_within(name, arr, indices, axis)
    values = values_for(name, arr, values)
    if broadcast or values.ndim == 0:
        if plain_shape(values) not in ((), plain_shape(indices)):
            values = expand(values, indices.shape)
    else:
        values = _leading(name, values, indices)
    return put_elements(arr, indices, values, axis, REDUCE[reduce], bool(include_self))


def _leading(op: str, values: Tensor, indices: Tensor) -> Tensor:
    """The part of the values that has indices."""
    if values.ndim != indices.ndim or any(v < n for v, n in zip(values.shape, indices.shape, strict=True)):
        raise RuntimeError(
            f"{op}: values: got shape {list(values.shape)} for indices of shape "
            f"{list(indices.shape)}; they must not be smaller"
        )
    return leading(values, tuple(indices.shape))


@known_as(code="element_moves:leading")
@op(register=False, method=False)
def leading(x: jax.Array, shape: Any) -> jax.Array:
    """The block of the given shape at the origin."""
    if x.shape == shape:
        return x
    return x[tuple(np.s_[:n] for n in shape)]


@composite(
    inplace=True,
    cases=[
        "f(3,2), 0, const([[0, 1], [0, 1]], 'int64'), f(2,2)",
        "f(3,2), 0, const([[0, 3]], 'int64'), f(1,2)",
        "~f(3,2), 0, const([[0]], 'int64'), f(2,2)",
        "i(3), -1, idx(3,4), i(4)",
    ],
)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Adds each element of src at its index along an axis. See `put_along_axis`.

    Args:
        input: Tensor [...].
        dim: int.
        index: int Tensor, at most as large as src.
        src: Tensor of the dtype of input.
    Returns:
        Tensor of the shape of input.
    Raises:
        RuntimeError: an index is out of range, or src is smaller than the index.
    Example:
        >>> paddle.scatter_add(paddle.zeros([3]), 0, paddle.to_tensor([1, 1]), paddle.ones([2])).tolist()
        [0.0, 2.0, 0.0]
    """
    return _along("scatter_add", input, dim, index, src, "add", True)


def _along(
    name: str, x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, include_self: bool
) -> Tensor:
    try:
        return put_along_axis(x, index, src, dim, reduce, include_self, False)
    except IndexError as error:
        # The error names the function that was called.
        raise RuntimeError(without_kind(error).replace("put_along_axis", name)) from None


@composite(
    cases=[
        f"f(3,2), 0, const([[0, 1], [0, 1]], 'int64'), f(2,2), {r!r}"
        for r in ("sum", "prod", "mean", "amax", "amin", "add", "foo")
    ]
    + [
        "f(3,2), 0, const([[0, 1], [0, 1]], 'int64'), f(2,2), 'amin', include_self=False",
        "f(3,2), 0, const([[0, 1], [0, 1]], 'int64'), f(2,2), 'sum', include_self=False",
    ]
)
def scatter_reduce(
    input: Tensor, dim: Any, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Combines each element of src with what is at its index along an axis.

    Args:
        reduce: "sum", "prod", "mean", "amax" or "amin". The other arguments as for `scatter_add`.
        include_self: False leaves out what was there before.
        input, dim, index, src: as for `scatter_add`.
    Returns:
        Tensor of the shape of input.
    Raises:
        ValueError: reduce is unknown.
    Example:
        >>> paddle.scatter_reduce(paddle.ones([2]), 0, paddle.to_tensor([0, 0]), paddle.to_tensor([2.0, 3.0]),
        ...                       "sum").tolist()
        [6.0, 1.0]
    """
    return _along(
        "scatter_reduce",
        input,
        dim,
        index,
        src,
        {"sum": "add", "prod": "mul"}.get(reduce, reduce),
        include_self,
    )


# rows -------------------------------------------------------------------------------------------------------


@known_as(amp="scatter", pir="scatter overwrite:bool=True")
@op("x index updates", register=False, method=False)
def put_rows(x: jax.Array, index: jax.Array, updates: jax.Array, overwrite: bool) -> jax.Array:
    """x with rows replaced, or with rows set to zero and the updates added."""
    # Negative indices count from the end.
    index = jnp.where(index < 0, index + x.shape[0], index)
    if overwrite:
        return x.at[index].set(updates)
    # In Paddle the rows start from zero where updates add up.
    return x.at[index].set(0).at[index].add(updates)


@known_as(pir="scatter overwrite:bool=True")
@composite(
    alias={"input": "x"},
    out=True,
    cases=[
        "f(3,2), const([0, 2], 'int64'), f(2,2)",
        "f(3,2), const([1, 1], 'int64'), f(2,2), overwrite=False",
        "f(3,2), const([2, 1], 'int64'), f(2,2), False",
        "f(3,2), const([0, 3], 'int64'), f(2,2)",
        "f(3,2), const([-1], 'int64'), f(1,2)",
        "f(3,2), const([[0], [2]], 'int64'), f(2,2)",
        "f(3,2), const(0, 'int64'), f(2)",
        "f(3), const([0, 2], 'int64'), f(2)",
        "f(3,2), const([0.0], 'float32'), f(1,2)",
        "f(3,2), 1, const([[0], [1], [1]], 'int64'), f(3,1)",
        "f(3,2), dim=1, index=const([[0], [1], [1]], 'int64'), src=f(3,1)",
        "f(3,2), dim=1, index=const([[0], [1], [1]], 'int64'), value=9.0",
        "f(3,2), dim=1, index=const([[0], [1], [1]], 'int64'), src=f(3,1), reduce='add'",
        "i(4), const([3], 'int32'), i(1)",
    ],
)
def scatter(
    x: Tensor,
    index: Any = None,
    updates: Tensor | None = None,
    overwrite: Any = True,
    name: str | None = None,
    *,
    dim: Any = None,
    src: Tensor | None = None,
    reduce: str | None = None,
    value: Any = None,
) -> Tensor:
    """Replaces rows of x, or adds to them.

    Args:
        x: Tensor [n, ...].
        index: int32 or int64 Tensor: 0-D, 1-D or [k, 1].
        updates: Tensor [k, ...], the new rows.
        overwrite: False sets the rows to zero and adds all updates, so that those with the same index add up.
        dim, src, reduce, value: another form: scatter(x, dim, index, src) puts single elements along an axis;
            see `put_along_axis`.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape of x.
    Raises:
        IndexError: an index is out of range.
        ValueError: shapes or dtypes do not fit.
    Example:
        >>> paddle.scatter(paddle.zeros([3]), paddle.to_tensor([2]), paddle.to_tensor([5.0])).tolist()
        [0.0, 0.0, 5.0]
    """
    # torch's order of arguments: the axis comes first.
    if isinstance(index, int):
        dim = index
        index = updates
        src = src if overwrite is True else overwrite
    if dim is not None:
        return put_along_axis(x, index, value if src is None else src, dim, reduce or "assign", True, False)
    check_index_dtype("scatter", index)
    lengths = plain_shape(index)
    if len(lengths) > 2 or (len(lengths) == 2 and lengths[1] != 1):
        raise ValueError(f"scatter: index: got shape {list(lengths)}; allowed are [], [k], [k, 1]")
    check_index("scatter", index, plain_shape(x)[0])
    updates = values_for("scatter", x, updates, "updates")
    if len(lengths) == 2:
        index = reshape(index, [-1])
    return put_rows(x, index, _rows(x, index, updates), bool(overwrite))


def _rows(x: Tensor, index: Tensor, updates: Tensor) -> Tensor:
    count = plain_shape(index)
    want = (*count, *plain_shape(x)[1:])
    given = plain_shape(updates)
    if given == want:
        return updates
    # More updates than indices: Paddle leaves the rest out.
    if count and len(given) == len(want) and given[0] > want[0]:
        given = (want[0], *given[1:])
        updates = leading(updates, given)
    if given != want:
        raise ValueError(f"scatter: updates: got shape {list(given)}; the rows need {list(want)}")
    return updates


def scatter_(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """In-place scatter: puts the result into x and returns it. See `scatter`.

    Args:
        x: Tensor [n, ...].
        *args, **kwargs: as for `scatter`.
    Returns:
        The Tensor `x`.
    Example:
        >>> paddle.zeros([2]).scatter_(paddle.to_tensor([1]), paddle.to_tensor([5.0])).tolist()
        [0.0, 5.0]
    """
    check_inplace("scatter_", x)
    return x._adopt(scatter(x, *args, **kwargs))


Tensor.scatter_ = scatter_


@known_as(pir="scatter_nd_add")
@op("x index updates", register=False, method=False)
def add_points(x: jax.Array, index: jax.Array, updates: jax.Array) -> jax.Array:
    """x with updates added at coordinates."""
    if index.shape[-1] == 0:
        # No coordinates: each update covers all of x.
        return x + updates.reshape(-1, *x.shape).sum(0)
    at = tuple(
        jnp.where(index[..., d] < 0, index[..., d] + x.shape[d], index[..., d])
        for d in range(index.shape[-1])
    )
    return x.at[at].add(updates)


def _check_updates(op: str, shape: OpenSize | Sequence[int], index: Tensor, updates: Tensor) -> None:
    check_points(op, index, shape)
    want = [*index.shape[:-1], *shape[index.shape[-1] :]]
    if list(updates.shape) != want:
        raise ValueError(f"{op}: updates: got shape {list(updates.shape)}; the index needs {want}")


@known_as(pir="scatter_nd_add")
@composite(
    cases=[
        "f(3), const([[1], [1]], 'int64'), f(2)",
        "f(3), const([[3]], 'int64'), f(1)",
        "f(3), const([[-1]], 'int64'), f(1)",
        "f(3,2), const([[1]], 'int64'), f(1,2)",
        "f(3,2), const([[1]], 'int64'), f(2)",
        "f(3,2), const([[1]], 'int64'), i(1,2)",
        "f(3,2), const([[1, 0], [1, 0]], 'int32'), f(2)",
    ]
)
def scatter_nd_add(x: Tensor, index: Tensor, updates: Tensor, name: str | None = None) -> Tensor:
    """Adds updates at coordinates; those with the same coordinates add up.

    Args:
        x: Tensor [...].
        index: int32 or int64 Tensor [..., k]: coordinates along the first k axes of x.
        updates: Tensor of shape index.shape[:-1] + x.shape[k:] and the dtype of x.
    Returns:
        Tensor of the shape and dtype of x.
    Raises:
        IndexError: a coordinate is out of range.
        ValueError: the shapes do not fit.
        TypeError: the dtypes differ.
    Example:
        >>> paddle.scatter_nd_add(paddle.zeros([2]), paddle.to_tensor([[1], [1]]), paddle.ones([2])).tolist()
        [0.0, 2.0]
    """
    if numpy_dtype(updates) != numpy_dtype(x):
        raise TypeError(
            f"scatter_nd_add: updates: got dtype {numpy_dtype(updates).name} for a tensor of "
            f"{numpy_dtype(x).name}; cast it with astype"
        )
    _check_updates("scatter_nd_add", x.shape, index, updates)
    return add_points(x, index, updates)


@composite(
    cases=[
        "const([[1], [1], [0]], 'int64'), f(3), [4]",
        "const([[1], [5]], 'int64'), f(2), [4]",
        "const([[1], [-1]], 'int64'), f(2), [4]",
        "const([[1, 0]], 'int64'), f(1,2), [3, 2, 2]",
        "const([[1, 0]], 'int64'), f(2,2), [3, 2, 2]",
        "const([[1], [2]], 'int32'), i(2), const([3], 'int64')",
    ]
)
def scatter_nd(index: Tensor, updates: Tensor, shape: Any, name: str | None = None) -> Tensor:
    """Zeros with updates added at coordinates. See `scatter_nd_add`.

    Args:
        index, updates: as for `scatter_nd_add`.
        shape: list, tuple or Tensor of ints: the shape of the result.
    Returns:
        Tensor of the given shape.
    Example:
        >>> paddle.scatter_nd(paddle.to_tensor([[1], [1]]), paddle.ones([2]), [3]).tolist()
        [0.0, 2.0, 0.0]
    """
    shape = ints("scatter_nd", shape, "shape")
    _check_updates("scatter_nd", shape, index, updates)
    return add_points(wrap(filled(shape, 0, numpy_dtype(updates))), index, updates)


# slices along an axis ---------------------------------------------------------------------------------------


@known_as(pir="index_add", code="element_moves:change_slices")
@op("x index value", register=False, method=False)
def change_slices(x: jax.Array, index: jax.Array, value: jax.Array, axis: Any, how: str = "add") -> jax.Array:
    """x with value set or added at slices along the axis."""
    spot = jnp.moveaxis(x, axis, 0).at[jnp.where(index < 0, index + x.shape[axis], index)]
    # A number goes into all slices.
    if value.ndim:
        value = jnp.moveaxis(value, axis, 0)
    return jnp.moveaxis(spot.add(value) if how == "add" else spot.set(value), 0, axis)


@known_as(pir="index_add(x,index,value) axis:i32")
@composite(
    alias={"input": "x", "dim": "axis", "source": "value"},
    inplace=True,
    out=True,
    cases=[
        "f(3,2), const([0, 0], 'int64'), 0, f(2,2)",
        "f(3,2), const([0], 'int64'), 1, f(3,1)",
        "f(3,2), const([3], 'int64'), 0, f(1,2)",
        "f(3,2), const([-1], 'int64'), 0, f(1,2)",
        "f(3,2), const([0.0], 'float32'), 0, f(1,2)",
        "f(3,2), 0, const([1], 'int64'), f(1,2)",
        "f(3,2), const([0], 'int64'), 0, f(1,2), alpha=2",
        "f(3,2), const([0], 'int64'), 2, f(1,2)",
        "f(3,2), const([[0]], 'int64'), 0, f(1,2)",
        "i(4), const([1, 1], 'int32'), 0, i(2)",
    ],
)
def index_add(
    x: Tensor, index: Any, axis: int, value: Tensor, alpha: float = 1, name: str | None = None
) -> Tensor:
    """Adds alpha * value to slices along an axis; values for the same index add up.

    Args:
        x: Tensor [...].
        index: 1-D int32 or int64 Tensor.
        axis: int. `dim` is accepted as a name; index_add(x, dim, index, source) is accepted too.
        value: Tensor of the shape of x but for the axis, which has the length of the index. `source` is
            accepted as a name.
        alpha: number.
        out: Tensor that receives the result.
    Returns:
        Tensor of the shape of x.
    Raises:
        ValueError: an index is out of range, or shapes or dtypes do not fit.
        IndexError: the axis is out of range.
    Example:
        >>> paddle.index_add(paddle.zeros([3]), paddle.to_tensor([1, 1]), 0, paddle.ones([2])).tolist()
        [0.0, 2.0, 0.0]
    """
    # Both orders of arguments are in use.
    if isinstance(index, int):
        # torch's order of arguments: the axis comes first.
        index, axis = axis, index
    axis = one_axis("index_add", axis, x.ndim, error=IndexError)
    check_index_dtype("index_add", index)
    if index.ndim != 1:
        raise ValueError(f"index_add: index: got shape {list(index.shape)}; it must be 1-D")
    check_index("index_add", index, x.shape[axis], ValueError)
    want = [*x.shape[:axis], index.shape[0], *x.shape[axis + 1 :]]
    value = values_for("index_add", x, value, "value")
    if value.ndim and list(value.shape) != want:
        raise ValueError(f"index_add: value: got shape {list(value.shape)}; the slices need {want}")
    return change_slices(x, index, value if alpha == 1 else value * alpha, axis, "add")


@composite(
    inplace=True,
    cases=[
        "f(3,2), const([0], 'int64'), 0, 9",
        "f(3,2), const([0], 'int64'), 1, const(9.0, 'float32')",
        "f(3,2), const([-1], 'int64'), 1, 9.0",
        "f(3,2), const([[0]], 'int64'), 1, 9.0",
        "f(3,2), const([0], 'int64'), 1, f(2)",
        "f(3,2), const([0], 'int64'), 2, 1",
        "i(4), const([1, 2], 'int32'), 0, 7",
        "b(3), const([1], 'int64'), 0, True",
    ],
)
def index_fill(x: Tensor, index: Tensor, axis: int, value: Any, name: str | None = None) -> Tensor:
    """Fills slices along an axis with one value.

    Args:
        x: Tensor [...].
        index: int32 or int64 Tensor.
        axis: int.
        value: number, or 0-D Tensor.
    Returns:
        Tensor of the shape and dtype of x.
    Raises:
        ValueError: the axis is out of range, or value has more than one element.
        IndexError: an index is out of range.
    Example:
        >>> paddle.index_fill(paddle.zeros([3]), paddle.to_tensor([1]), 0, 7).tolist()
        [0.0, 7.0, 0.0]
    """
    axis = one_axis("index_fill", axis, x.ndim)
    check_index_dtype("index_fill", index)
    # An empty tensor has no slices to check indices against.
    if x.size == 0:
        return clone(x)
    check_index("index_fill", index, x.shape[axis])
    if isinstance(value, Tensor):
        if value.ndim:
            raise ValueError(
                f"index_fill: value: got a tensor of shape {list(value.shape)}; it must be a number or 0-D"
            )
        value = value.astype(x.dtype)
    else:
        value = values_for("index_fill", x, value)
    return change_slices(x, reshape(index, [-1]), value, axis, "set")


@known_as(pir="index_put")
@op("x *indices value", register=False, method=False)
def put_at(x: jax.Array, indices: Any, value: jax.Array, accumulate: bool) -> jax.Array:
    """x with value set or added at the points that integer indices name."""
    spot = x.at[tuple(jnp.where(i < 0, i + x.shape[d], i) for d, i in enumerate(indices))]
    if accumulate:
        return spot.add(value)
    return spot.set(value)


@known_as(code="element_moves:put_where")
@op("x mask value", register=False, method=False)
def put_where(x: jax.Array, mask: jax.Array, value: jax.Array, accumulate: bool) -> jax.Array:
    """x with value set or added where the mask over its first axes holds."""
    mask = mask.reshape(*mask.shape, *[1] * (x.ndim - mask.ndim))
    return jnp.where(mask, x + value if accumulate else value, x)


@known_as(pir="index_put accumulate:bool=False")
@composite(
    out="unlisted",
    alias={"input": "x", "values": "value"},
    inplace=True,
    cases=[
        "f(3,2), (const([0, 2], 'int64'),), const(9.0, 'float32')",
        "f(3,2), (const([0, 0], 'int64'), const([1, 1], 'int64')), f(2), True",
        "f(3,2), (const([0, 1], 'int64'), const([1, 1], 'int64')), f(2)",
        "f(3,2), (const([True, False, True]),), const(9.0, 'float32')",
        "f(3,2), [const([-1], 'int64')], f(2)",
        "f(3,2), const([1], 'int64'), f(2)",
        "f(3,2), (const([[0, 1]], 'int64'), const([1], 'int64')), const(9.0, 'float32')",
        "f(3,2), (const([0], 'int64'),), const(9, 'int64')",
        "f(3,2), (const([0, 1], 'int64'),), f(3)",
        "f(3,2), (const([[True, False], [False, True], [True, True]]),), f(4), True",
        "f(3,4), (const([True, False, True]), const([1, -2], 'int64')), f(2)",
        "i(4), (const([2], 'int64'),), i(1)",
    ],
)
def index_put(
    x: Tensor, indices: Any, value: Tensor, accumulate: bool = False, name: str | None = None
) -> Tensor:
    """Puts values at the points that a tuple of index tensors names, as x[indices] = value does.

    Args:
        x: Tensor [...].
        indices: list or tuple of int32, int64 or bool Tensors for the first axes; they broadcast
            with one another.
        value: Tensor of the dtype of x that broadcasts to the points.
        accumulate: add instead of replacing; values for the same point add up.
    Returns:
        Tensor of the shape of x.
    Raises:
        IndexError: an index is out of range.
        ValueError: shapes or dtypes do not fit.
    Example:
        >>> paddle.index_put(paddle.zeros([3]), (paddle.to_tensor([1]),), paddle.to_tensor(7.0)).tolist()
        [0.0, 7.0, 0.0]
    """
    if not isinstance(indices, list | tuple) or not indices:
        raise ValueError(
            f"index_put: indices: got {type(indices).__name__}; it must be a list or tuple of Tensors"
        )
    value = values_for("index_put", x, value, "value")
    # A mask alone is a choice with a known shape; other masks become coordinates.
    if len(indices) == 1 and numpy_dtype(indices[0]) == np.bool_ and value.ndim <= x.ndim - indices[0].ndim:
        return put_where(x, indices[0], value, bool(accumulate))
    positions = []
    for given in indices:
        if numpy_dtype(given) == np.bool_:
            positions += _where(given)
        else:
            positions.append(given)
    for d, index in enumerate(positions):
        check_index_dtype("index_put", index, name="indices")
        check_index("index_put", index, x.shape[d], name="indices")
    return put_at(x, positions, value, bool(accumulate))


def _where(mask: Tensor) -> list[Any]:
    return [wrap(persistent_from_numpy(i)) for i in np.nonzero(host_value(mask, "index_put"))]
