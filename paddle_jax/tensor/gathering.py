"""Taking elements at indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.kernels.op_record import known_as
from paddle_jax._core.lazy.lazy_array import from_numpy
from paddle_jax._core.lazy.lengths import expression_of
from paddle_jax._core.ops.op import composite, op
from paddle_jax._core.tensors.held_values import numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import Tensor, host_elements, host_value, wrap
from paddle_jax.tensor.axes import check_index, check_index_dtype, concrete, number, one_axis, untracked
from paddle_jax.tensor.manipulation import expand, reshape

if TYPE_CHECKING:
    import jax

    from paddle_jax._annotations import Axes
    from paddle_jax._core.lazy.lengths import OpenSize


X_DIM = {"input": "x", "dim": "axis"}


@known_as(code="indexing:take_rows")
@op("x index", register=False, method=False)
def take_rows(x: jax.Array, index: jax.Array, axis: Axes) -> jax.Array:
    """The slices of x at `index` along `axis`; negative indices count from the end."""
    # A gather from an empty axis has no place to clip to.
    if index.size == 0:
        return jnp.zeros((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]), x.dtype)
    # Clipped: the check of the places is made before.
    return jnp.take(x, jnp.where(index < 0, index + x.shape[axis], index), axis=axis, mode="clip")


@known_as(pir="gather(x,index,axis:i32)", onnx="Gather(x, index, axis=axis)")
@composite(
    out=True,
    alias={"input": "x"},
    cases=[
        "f(4), idx(4,3)",
        "f(4,2), idx(4,3)",
        "f(4,2), idx(2,3), 1",
        "f(4,2), const([1, -1], 'int64')",
        "f(4,2), const([1, 4], 'int64')",
        "f(4,2), const([-5], 'int64')",
        "f(4,2), const(2, 'int64')",
        "f(4,2), idx(4,3,1)",
        "f(4,2), idx(2,1,2)",
        "f(4,2), f(2)",
        "f(4,2), idx(2,1), const(1, 'int64')",
        "f(4,2), const([], 'int64')",
        "f(), idx(1,1)",
        "f(4,2), idx(1,1), 2",
        "f(4,2,3), idx32(4,6), -3",
        "i(4), idx(4,2)",
        "f(3), const([1, 1, 1], 'int64')",
        "f(4,2), 1, idx(2,3,2)",
        "f(4,2), dim=1, index=idx(2,3,2)",
    ],
)
def gather(
    x: Tensor, index: Any = None, axis: Any = None, name: str | None = None, *, dim: Any = None
) -> Tensor:
    """Takes the slices of x at the indices along an axis.

    Args:
        x: Tensor [...].
        index: int32 or int64 Tensor: 0-D, 1-D or [n, 1]. Negative indices count from the end.
        axis: int or Tensor of one int. Default: 0.
        dim: another form, also written gather(x, 1, index): takes single elements, as `take_along_axis` with
            broadcast=False does.
        out: Tensor that receives the result.
    Returns:
        Tensor whose `axis` has the length of the index (and vanishes for a 0-D index).
    Raises:
        IndexError: an index or the axis is out of range.
        ValueError: the index has another dtype or shape.
    Example:
        >>> paddle.gather(paddle.to_tensor([[1, 2], [3, 4], [5, 6]]), paddle.to_tensor([2, 0])).tolist()
        [[5, 6], [1, 2]]
    """
    if isinstance(index, int):
        # torch's order of arguments: the axis comes first.
        index, dim = axis, index
    if dim is not None:
        return take_along_axis(x, index, dim, False)
    if axis is None:
        axis = 0
    axis = one_axis("gather", number("gather", axis, "axis"), x.ndim, error=IndexError)
    check_index_dtype("gather", index)
    if index.ndim > 2 or (index.ndim == 2 and index.shape[1] != 1):
        raise ValueError(f"gather: index: got shape {list(index.shape)}; allowed are [], [n], [n, 1]")
    check_index("gather", index, x.shape[axis])
    if index.ndim == 2:
        index = reshape(index, [-1])
    return take_rows(x, index, axis)


@known_as(pir="index_select axis:i32", onnx="Gather axis")
@composite(
    alias=X_DIM,
    out=True,
    cases=[
        "f(4,2), idx(4,3)",
        "f(4,2), idx(2,3), 1",
        "f(4,2), idx32(4,3), axis=-2",
        "f(4,2), const([4], 'int64')",
        "~f(4,2), const([-1], 'int64')",
        "i(4,2), const([-1], 'int64')",
        "f(4,2), idx(2,1), 2",
        "f(4,2), f(2)",
        "f(4,2), const([], 'int64')",
        "i(4), const([2, 2], 'int64')",
        "f(4,2), 0, idx(4,3)",
        "f(4,2), idx(4,3,1)",
        "f(2,3), idx(3,1), dim=1",
        "f(), idx(1,1)",
    ],
)
def index_select(x: Tensor, index: Any, axis: int = 0, name: str | None = None) -> Tensor:
    """Takes the slices of x at the indices along an axis.

    Args:
        x: Tensor [...].
        index: 1-D int32 or int64 Tensor.
        axis: int. `dim` is accepted as a name; index_select(x, dim, index) is accepted too.
        out: Tensor that receives the result.
    Returns:
        Tensor whose `axis` has the length of the index.
    Raises:
        ValueError: an index is out of range, or has another dtype or shape.
        IndexError: the axis is out of range.
    Example:
        >>> paddle.index_select(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([1, 1])).tolist()
        [[3, 4], [3, 4]]
    """
    if isinstance(index, int):
        # torch's order of arguments: the axis comes first.
        index, axis = axis, index
    shape = plain_shape(x)
    axis = one_axis("index_select", axis, len(shape), error=IndexError)
    check_index_dtype("index_select", index)
    lengths = plain_shape(index)
    if len(lengths) != 1 and (len(lengths) != 2 or lengths[1] != 1):
        raise ValueError(f"index_select: index: got shape {list(lengths)}; it must be 1-D")
    check_index("index_select", index, shape[axis], ValueError)
    if len(lengths) == 2:
        index = reshape(index, [-1])
    return take_rows(x, index, axis)


@known_as(pir="gather_nd")
@op("x index", register=False, method=False)
def take_points(x: jax.Array, index: jax.Array) -> jax.Array:
    """Elements (or slices) of x at the coordinates in the last axis of the index."""
    depth = index.shape[-1]
    if index.size == 0 and depth:
        return jnp.zeros((*index.shape[:-1], *x.shape[depth:]), x.dtype)
    # No coordinates: each point is all of x.
    if depth == 0:
        return jnp.broadcast_to(x, (*index.shape[:-1], *x.shape))
    at = tuple(jnp.where(index[..., d] < 0, index[..., d] + x.shape[d], index[..., d]) for d in range(depth))
    return x.at[at].get(mode="clip")


def check_points(op: str, index: Tensor, shape: OpenSize | Sequence[int], error: Any = IndexError) -> None:
    """Checks coordinates of points in a tensor of the given shape: their number and, when
    known, their values."""
    check_index_dtype(op, index)
    if index.ndim == 0 or index.shape[-1] > len(shape):
        raise ValueError(
            f"{op}: index: got shape {list(index.shape)}; "
            f"the last axis holds at most {len(shape)} coordinates, as the tensor has axes"
        )
    values = concrete(index)
    # Only where the values can be seen for free.
    if values is not None and values.size:
        sizes = np.asarray(shape[: index.shape[-1]])
        if ((values >= sizes) | (values < -sizes)).any():
            raise error(f"{op}: index: a point lies outside a tensor of shape {list(shape)}")


@known_as(pir="gather_nd", onnx="GatherND")
@composite(
    cases=[
        "f(3,4), const([[0, 1], [2, 3]], 'int64')",
        "f(3,4), const([[0], [2]], 'int64')",
        "f(3,4), const([[0, -1]], 'int64')",
        "f(3,4), const([[0, 4]], 'int64')",
        "f(3,4), const([[0, 1, 1]], 'int64')",
        "f(3,4), const([1, 2], 'int32')",
        "f(3,4), const([[1.0]], 'float32')",
        "f(3,4), paddle.zeros([2, 0], 'int64')",
        "f(3,4), paddle.zeros([0, 1], 'int64')",
        "f(3,4), const([[1, 1], [1, 1]], 'int64')",
        "i(3,4), idx(3,2,2,2)",
    ]
)
def gather_nd(x: Tensor, index: Tensor, name: str | None = None) -> Tensor:
    """Takes elements, or slices, at coordinates.

    Args:
        x: Tensor [...].
        index: int32 or int64 Tensor [..., k], whose last axis holds the coordinates along the
            first k axes of x.
    Returns:
        Tensor of shape index.shape[:-1] + x.shape[k:].
    Raises:
        ValueError: a coordinate is out of range, there are too many, or the dtype is not an index.
    Example:
        >>> paddle.gather_nd(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[0, 1], [1, 0]])).tolist()
        [2, 3]
    """
    check_points("gather_nd", index, x.shape, ValueError)
    return take_points(x, index)


@composite(
    cases=[
        "f(2,3), const([0, 5], 'int64')",
        "f(2,3), const([[0], [-1]], 'int64')",
        "f(2,3), const([0, 6], 'int64')",
        "f(2,3), const([0, 7], 'int64'), 'wrap'",
        "f(2,3), const([-3, 7], 'int64'), 'clip'",
        "f(2,3), const([-9], 'int64'), 'wrap'",
        "f(2,3), const([1.0], 'float32')",
        "f(2,3), const([1], 'int64'), 'foo'",
        "i(4), idx32(4,2)",
        "f(2,3), const(2, 'int64')",
    ]
)
def take(x: Tensor, index: Tensor, mode: str = "raise", name: str | None = None) -> Tensor:
    """Takes elements of the flattened tensor.

    Args:
        x: Tensor [...].
        index: int32 or int64 Tensor of any shape; negative indices count from the end.
        mode: what happens to indices out of range: "raise", "wrap" (modulo the size) or "clip" (nearest end;
            negative ones become 0).
    Returns:
        Tensor of the shape of the index.
    Raises:
        ValueError: an index is out of range in mode "raise", or the mode is unknown.
        TypeError: the index is no integer.
    Example:
        >>> paddle.take(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([3, 0])).tolist()
        [4, 1]
    """
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"take: mode: got {mode!r}; allowed are 'raise', 'wrap', 'clip'")
    check_index_dtype("take", index, error=TypeError)
    # The other modes bring each index into range.
    if mode == "raise":
        check_index("take", index, x.size, ValueError)
    return take_flat(x, index, mode)


@known_as(code="element_moves:take")
@op("x index", register=False, method=False)
def take_flat(x: jax.Array, index: jax.Array, mode: str) -> jax.Array:
    """Elements of the flattened tensor."""
    # Without an index x may be empty, which `take` refuses.
    if index.size == 0:
        return jnp.zeros(index.shape, x.dtype)
    if mode == "raise":
        index = jnp.where(index < 0, index + x.size, index)
    return jnp.take(x.reshape(-1), index, mode="wrap" if mode == "wrap" else "clip")


@known_as(pir="take_along_axis")
@op("x index", register=False, method=False)
def take_elements(x: jax.Array, index: jax.Array, axis: Axes) -> jax.Array:
    """x[..., index[...], ...] with index over the axis; x may be longer than the index
    along the other axes."""
    # Longer axes of x have no index behind that of `index`.
    x = x[tuple(np.s_[:n] if d != axis else np.s_[:] for d, n in enumerate(index.shape))]
    index = jnp.where(index < 0, index + x.shape[axis], index)
    return jnp.take_along_axis(x, index, axis, mode="clip")


def fit_index(op: str, x: Tensor, index: Tensor, axis: Any) -> tuple[Any, Any]:
    """Broadcasts an index and x against each other except along the axis, as take_along_axis and
    put_along_axis do."""
    if x.ndim != index.ndim:
        raise ValueError(
            f"{op}: indices: got shape {list(index.shape)} for a tensor of shape "
            f"{list(x.shape)}; both need as many axes"
        )
    pairs = zip(plain_shape(x), plain_shape(index), strict=True)
    # Nothing to repeat for any length of the axis, which may be open.
    if all(expression_of(n) == expression_of(m) for d, (n, m) in enumerate(pairs) if d != axis):
        return x, index
    # The index is the smaller one, and is repeated.
    if all(n >= m for n, m in zip(x.shape, index.shape, strict=True)):
        return x, expand(
            index, [m if d == axis else n for d, (n, m) in enumerate(zip(x.shape, index.shape, strict=True))]
        )
    return expand(
        x, [n if d == axis else m for d, (n, m) in enumerate(zip(x.shape, index.shape, strict=True))]
    ), index


def check_within(op: str, x: Tensor, index: Tensor, axis: Any) -> None:
    """Refuses an index that is longer than x along another axis."""
    if x.ndim != index.ndim:
        raise ValueError(
            f"{op}: indices: got shape {list(index.shape)} for a tensor of shape "
            f"{list(x.shape)}; both need as many axes"
        )
    if any(m > n and d != axis for d, (n, m) in enumerate(zip(x.shape, index.shape, strict=True))):
        raise RuntimeError(
            f"{op}: indices: got shape {list(index.shape)}, larger than {list(x.shape)} apart "
            f"from axis {axis}"
        )


@known_as(pir="take_along_axis axis:i32", onnx="GatherElements axis")
@composite(
    alias={"input": "arr", "dim": "axis"},
    out=True,
    cases=[
        "f(2,3), const([[0], [1]], 'int64'), 1",
        "f(2,3), const([[0]], 'int64'), 1",
        "f(2,3), const([[0]], 'int64'), 1, False",
        "f(2,3), const([[0, -1]], 'int64'), 1",
        "f(2,3), const([[0, 3]], 'int64'), 1",
        "f(2,3), const([0], 'int64'), 1",
        "f(2,3), const([[0], [0], [0]], 'int64'), 1",
        "f(2,3), const([[0], [0], [0]], 'int64'), 1, False",
        "f(2,3), const([[1, 0, 1]], 'int64'), 0",
        "f(2,3), const([[0]], 'int64'), 2",
        "f(2,3), const([[0]], 'int32'), -1",
        "f(2,3), idx(3,2,5), 1",
        "f(1,3), idx(3,2,2), 1",
        "f(), const(0, 'int64'), 0",
        "f(2,3), const([[0], [1]], 'int64'), None",
        "i(3,2), idx(3,4,2), axis=0",
        "f(0,3), idx(3,0,2), 1",
    ],
)
def take_along_axis(arr: Tensor, indices: Tensor, axis: int, broadcast: bool = True) -> Tensor:
    """Takes one element per index along an axis: out[i][j] = arr[i][indices[i][j]] for axis 1.

    Args:
        arr: Tensor [...]. `input` is accepted as a name.
        indices: int32 or int64 Tensor of as many axes; negative indices count from the end.
        axis: int. `dim` is accepted as a name.
        broadcast: broadcast indices and arr against each other along the other axes; False takes the
            leading part of arr.
        out: Tensor that receives the result.
    Returns:
        Tensor of the (broadcast) shape of indices.
    Raises:
        IndexError: an index is out of range.
        ValueError: the shapes do not fit.
        AssertionError: the axis is out of range.
    Example:
        >>> paddle.take_along_axis(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]]),
        ...                        1).tolist()
        [[2], [3]]
    """
    if arr.ndim != indices.ndim:
        raise ValueError(
            f"take_along_axis: indices: got shape {list(indices.shape)} for a tensor of shape "
            f"{list(arr.shape)}; both need as many axes"
        )
    axis = one_axis("take_along_axis", axis, arr.ndim, error=AssertionError)
    check_index_dtype("take_along_axis", indices, ("int16", "int32", "int64", "uint8"), "indices")
    check_index("take_along_axis", indices, arr.shape[axis])
    if broadcast:
        arr, indices = fit_index("take_along_axis", arr, indices, axis)
    else:
        check_within("take_along_axis", arr, indices, axis)
    return take_elements(arr, indices, axis)


@known_as(pir="index_sample")
@composite(
    cases=[
        "f(2,3), idx(3,2,4)",
        "f(2,3), idx32(3,2,1)",
        "f(2,3), const([[0], [3]], 'int64')",
        "f(2,3), idx(3,3,1)",
        "f(3), idx(3,2)",
        "i(2,2), const([[1, 1], [0, 0]], 'int64')",
        "f(2,3), f(2,1)",
    ]
)
def index_sample(x: Tensor, index: Tensor) -> Tensor:
    """Takes from each row of x the elements at the indices in the same row.

    Args:
        x: Tensor [n, m].
        index: int32 or int64 Tensor [n, k].
    Returns:
        Tensor [n, k].
    Raises:
        ValueError: an index is out of range, or shapes or dtype do not fit.
    Example:
        >>> paddle.index_sample(paddle.to_tensor([[1, 2], [3, 4]]), paddle.to_tensor([[1], [0]])).tolist()
        [[2], [3]]
    """
    check_index_dtype("index_sample", index)
    if x.ndim != 2 or index.ndim != 2 or x.shape[0] != index.shape[0]:
        raise ValueError(
            f"index_sample: got x of shape {list(x.shape)} and index of shape "
            f"{list(index.shape)}; use [n, m] and [n, k]"
        )
    check_index("index_sample", index, x.shape[1], ValueError, low=0)
    return take_elements(x, index, 1)


@known_as(pir="masked_select", code="selections:masked_select")
@composite(
    alias={"input": "x"},
    out=True,
    cases=[
        "f(2,3), b(2,3)",
        "f(2,3), b(3)",
        "f(3), b(2,3)",
        "f(2,3), i(2,3)",
        "f(), const(True)",
        "i(4), b(4)",
        "f(2,3), b(2)",
        "f(0,2), b(0,2)",
        "f(2,3), const(np.zeros((2, 3), bool))",
    ],
)
def masked_select(x: Tensor, mask: Tensor, name: str | None = None) -> Tensor:
    """The elements where the mask is true, in a row.

    Args:
        x: Tensor [...].
        mask: bool Tensor that broadcasts with x.
        out: Tensor that receives the result.
    Returns:
        1-D Tensor.
    Raises:
        ValueError: the mask is not bool, or the shapes do not broadcast.
    Example:
        >>> paddle.masked_select(paddle.to_tensor([1, 2, 3]), paddle.to_tensor([True, False, True])).tolist()
        [1, 3]
    """
    if not isinstance(mask, Tensor) or numpy_dtype(mask) != np.bool_:
        raise ValueError(
            f"masked_select: mask: got {getattr(mask, 'dtype', type(mask).__name__)}; "
            "it must be a bool Tensor"
        )
    try:
        shape = jnp.broadcast_shapes(tuple(x.shape), tuple(mask.shape))
    except ValueError:
        raise RuntimeError(
            f"masked_select: shapes {list(x.shape)} and {list(mask.shape)} do not broadcast"
        ) from None
    chosen = np.broadcast_to(
        host_value(
            mask, "masked_select", "use paddle_jax.bounded.masked_select(x, mask, size) there, or where()"
        ),
        shape,
    )
    if untracked(x):  # a new number of elements would be a new program to compile
        return wrap(from_numpy(np.broadcast_to(host_elements(x), shape)[chosen]))
    return take_rows(reshape(expand(x, shape), [-1]), wrap(np.flatnonzero(chosen)), 0)
