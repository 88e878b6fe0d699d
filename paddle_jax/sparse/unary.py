"""Functions of one sparse Tensor. Those that keep 0 at 0 act on the values alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.coo import coalesce as coalesce
from paddle_jax.sparse.coordinates import coordinates, joined
from paddle_jax.sparse.csr import SparseCsrTensor
from paddle_jax.sparse.pattern import like, need_exact, need_sparse
from paddle_jax.tensor import logic, math, ops
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.gathering import gather

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.base.dtype import DType
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.sparse.base import SparseTensor

__all__ = []


def with_values(x: SparseTensor, values: Tensor) -> SparseTensor:
    """A sparse Tensor with the coordinates of x."""
    if isinstance(x, SparseCooTensor):
        return SparseCooTensor(x.indices(), values, x.shape, x._filled)
    return SparseCsrTensor(x.crows(), x.cols(), values, x.shape)


def _by_value(
    function: Callable[..., Any], what: str, example: tuple[float, float]
) -> Callable[..., SparseTensor]:
    name = function.__name__

    def unary(x: SparseTensor, name: str | None = None) -> SparseTensor:
        need_sparse(unary.__name__, x=x)
        return with_values(x, function(x.values()))

    unary.__name__ = unary.__qualname__ = name
    unary.__doc__ = f"""{what} of the elements that are kept.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
    Returns:
        The same with other values.
    Raises:
        NotImplementedError: x is no sparse Tensor.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1]], [{example[0]}])
        >>> round(paddle.sparse.{name}(x).values().item(), 4)
        {example[1]}
    """
    return unary


abs: Callable[..., SparseTensor] = _by_value(ops.abs, "The absolute values", (-2.0, 2.0))  # noqa: A001  Paddle's name
asin: Callable[..., SparseTensor] = _by_value(ops.asin, "The inverse sines", (1.0, 1.5708))
asinh: Callable[..., SparseTensor] = _by_value(ops.asinh, "The inverse hyperbolic sines", (1.0, 0.8814))
atan: Callable[..., SparseTensor] = _by_value(ops.atan, "The inverse tangents", (1.0, 0.7854))
atanh: Callable[..., SparseTensor] = _by_value(ops.atanh, "The inverse hyperbolic tangents", (0.5, 0.5493))
deg2rad: Callable[..., SparseTensor] = _by_value(ops.deg2rad, "Degrees as radians, those", (180.0, 3.1416))
expm1: Callable[..., SparseTensor] = _by_value(ops.expm1, "exp(x) - 1", (1.0, 1.7183))
isnan: Callable[..., SparseTensor] = _by_value(logic.isnan, "Whether they are NaN, for each", (1.0, 0))
log1p: Callable[..., SparseTensor] = _by_value(ops.log1p, "log(1 + x)", (1.0, 0.6931))
neg: Callable[..., SparseTensor] = _by_value(ops.neg, "The negatives", (2.0, -2.0))
rad2deg: Callable[..., SparseTensor] = _by_value(ops.rad2deg, "Radians as degrees, those", (1.0, 57.2958))
sin: Callable[..., SparseTensor] = _by_value(ops.sin, "The sines", (1.0, 0.8415))
sinh: Callable[..., SparseTensor] = _by_value(ops.sinh, "The hyperbolic sines", (1.0, 1.1752))
sqrt: Callable[..., SparseTensor] = _by_value(ops.sqrt, "The square roots", (4.0, 2.0))
square: Callable[..., SparseTensor] = _by_value(ops.square, "The squares", (3.0, 9.0))
tan: Callable[..., SparseTensor] = _by_value(ops.tan, "The tangents", (1.0, 1.5574))
tanh: Callable[..., SparseTensor] = _by_value(ops.tanh, "The hyperbolic tangents", (1.0, 0.7616))


def pow(x: SparseTensor, factor: float, name: str | None = None) -> SparseTensor:  # noqa: A001  Paddle's name
    """The elements that are kept to a power.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
        factor: number.
    Returns:
        Sparse Tensor of the kind of x.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1]], [3.0])
        >>> paddle.sparse.pow(x, 2).values().tolist()
        [9.0]
    """
    need_sparse("pow", x=x)
    if not float(factor) > 0:
        # Filling would become 1, infinity or NaN.
        need_exact("pow", x)
    return with_values(x, math.pow(x.values(), float(factor)))


def cast(
    x: SparseTensor,
    index_dtype: DTypeLike | None = None,
    value_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> SparseTensor:
    """Other dtypes of coordinates and of values.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
        index_dtype: int32 or int64; None leaves it.
        value_dtype: any dtype; None leaves it.
    Returns:
        Sparse Tensor of the kind of x.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0], [1]], [3.0])
        >>> paddle.sparse.cast(x, "int32", "float64").indices().dtype == paddle.int32
        True
    """
    need_sparse("cast", x=x)
    if value_dtype is None:
        values = x.values()
    else:
        values = x.values().astype(value_dtype)
    if index_dtype is None:
        return with_values(x, values)
    if isinstance(x, SparseCooTensor):
        return SparseCooTensor(x.indices().astype(index_dtype), values, x.shape, x._filled)
    return SparseCsrTensor(x.crows().astype(index_dtype), x.cols().astype(index_dtype), values, x.shape)


def transpose(x: SparseTensor, perm: Sequence[int], name: str | None = None) -> SparseTensor:
    """Puts the axes into another order.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
        perm: list of ints, the old number of each new axis; axes without coordinates stay.
    Returns:
        A sparse Tensor of the same kind.
    Raises:
        ValueError: perm is no permutation of the axes.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 2]], [1.0, 2.0])
        >>> list(paddle.sparse.transpose(x, [1, 0]).shape)
        [3, 2]
    """
    need_sparse("transpose", x=x)
    # A number out of range becomes one that no axis has, and is refused below.
    perm = [int(p) % x.ndim if -x.ndim <= int(p) < x.ndim else x.ndim for p in perm]
    places = coordinates(x)
    if sorted(perm) != list(range(x.ndim)) or perm[len(places) :] != list(range(len(places), x.ndim)):
        raise ValueError(
            f"transpose: perm: got {perm}; it must have each of 0..{x.ndim - 1} once, and leave "
            f"axes from {len(places)} on"
        )
    shape = [x.shape[p] for p in perm]
    places = places[perm[: len(places)]]
    values = x.values()
    # Rows need sorted coordinates; others may come in any order.
    if isinstance(x, SparseCsrTensor):
        places, values = joined(places, values, shape)
    return like(x, places, values, shape)


def reshape(x: SparseTensor, shape: Sequence[int], name: str | None = None) -> SparseTensor:
    """Another shape with the same number of elements in the same order.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
        shape: list of ints; one may be -1, a 0 keeps the length. Axes without coordinates stay as they are.
    Returns:
        Sparse Tensor of the kind of x.
    Raises:
        ValueError: the number of elements would change.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 2]], [1.0, 2.0], [2, 3])
        >>> paddle.sparse.reshape(x, [3, 2]).indices().tolist()
        [[0, 2], [1, 1]]
    """
    need_sparse("reshape", x=x)
    places = coordinates(x)
    # As in `paddle.reshape`, 0 keeps the length.
    shape = [x.shape[i] if n == 0 else int(n) for i, n in enumerate(shape)]
    old = list(x.shape[: len(places)])
    dense = list(x.shape[len(places) :])
    size = int(np.prod(x.shape))
    known = int(np.prod([n for n in shape if n != -1]))
    shape = [size // known if n == -1 and known else n for n in shape]
    new = shape[: len(shape) - len(dense)]
    if int(np.prod(shape)) != size or shape[len(new) :] != dense or min(shape, default=0) < 0:
        raise ValueError(
            f"reshape: shape: got {shape} for a Tensor of shape {list(x.shape)}; "
            f"the number of elements must stay, and so must {dense}"
        )
    return like(x, np.stack(np.unravel_index(flat_numbers(places, old), tuple(new))), x.values(), shape)


def flat_numbers(places: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """The place of each coordinate in the flattened array."""
    # NumPy's types say one number; of arrays it is an array.
    return np.ravel_multi_index(tuple(places), tuple(shape))  # pyright: ignore[reportReturnType]


def slice(
    x: SparseTensor, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], name: str | None = None
) -> SparseTensor:  # noqa: A001  Paddle's name
    """A part of a sparse Tensor: from start to end along some axes.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
        axes, starts, ends: lists of ints of one length; negative starts and ends count from the end.
    Returns:
        Sparse Tensor of the kind of x.
    Raises:
        ValueError: the lists have different lengths.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 2]], [1.0, 2.0], [2, 3])
        >>> paddle.sparse.slice(x, [0], [1], [2]).to_dense().tolist()
        [[0.0, 0.0, 2.0]]
    """
    need_sparse("slice", x=x)
    axes, starts, ends = ([int(v) for v in values] for values in (axes, starts, ends))
    if not len(axes) == len(starts) == len(ends):
        raise ValueError(
            f"slice: got {len(axes)} axes, {len(starts)} starts and {len(ends)} ends; "
            "give one start and end per axis"
        )
    places = coordinates(x)
    shape = list(x.shape)
    values = x.values()
    inside = np.ones(places.shape[1], bool)
    for axis, start, end in zip(axes, starts, ends, strict=True):
        axis %= x.ndim
        # Python's rules for bounds outside of the axis.
        start, end, _ = np.s_[start:end].indices(x.shape[axis])
        shape[axis] = max(end - start, 0)
        if axis >= len(places):
            values = values[(np.s_[:],) * (axis - len(places) + 1) + (np.s_[start:end],)]
        else:
            inside &= (places[axis] >= start) & (places[axis] < end)
            # Coordinates count from the start of the part.
            places[axis] -= start
    return like(x, places[:, inside], gather(values, to_tensor(np.nonzero(inside)[0])), shape)


def sum(
    x: SparseTensor,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> SparseTensor:  # noqa: A001  Paddle's name
    """The sum over axes.

    Args:
        x: SparseCooTensor or SparseCsrTensor.
        axis: int or list of ints. Default: all axes; then the result has one element. For a SparseCsrTensor
            -1 or None; the axis stays.
        dtype: dtype of the result. Default: that of x, int64 for integers and bool.
        keepdim: keep the summed axes with length 1.
    Returns:
        A sparse Tensor of the same kind.
    Raises:
        NotImplementedError: another axis of a SparseCsrTensor.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 1]], [1.0, 2.0])
        >>> paddle.sparse.sum(x, 0).to_dense().tolist()
        [0.0, 3.0]
    """
    need_sparse("sum", x=x)
    rows = isinstance(x, SparseCsrTensor)
    if rows and axis not in (None, -1):
        raise NotImplementedError(
            f"sum: axis: got {axis} for a SparseCsrTensor; use -1 or None, or to_sparse_coo first"
        )
    values = x.values().astype(_sum_dtype(x.dtype, dtype))
    if axis is None:
        shape = [1] * (x.ndim if keepdim else 2 if rows else 1)
        if not keepdim and not rows:  # Paddle keeps one number, without an axis for the elements
            return SparseCooTensor(
                to_tensor(np.zeros(1, np.int64)).astype(x.indices().dtype), values.sum(), shape
            )
        if rows and not keepdim:
            axes = 2
        elif rows:
            axes = x.ndim
        else:
            axes = x.sparse_dim()
        total = values.sum().reshape([1] * (len(shape) - axes + 1))
        return like(x, np.zeros((axes, 1), np.int64), total, shape, joined=True)
    places = coordinates(x)
    # A matrix by rows stays one: it needs its axis of rows.
    keepdim = keepdim or rows
    axes = {a % x.ndim for a in ([axis] if isinstance(axis, int) else axis)}
    behind = [a - len(places) + 1 for a in axes if a >= len(places)]
    if behind:
        values = values.sum(behind, keepdim=keepdim)
    shape = [1 if a in axes else n for a, n in enumerate(x.shape) if keepdim or a not in axes]
    kept = [np.zeros_like(p) if a in axes else p for a, p in enumerate(places) if keepdim or a not in axes]
    if not kept:
        total = values.sum(0).reshape([1, *values.shape[1:]])
        return like(x, np.zeros((1, 1), np.int64), total, [1, *shape], joined=True)
    # Only values were added up; coordinates are as they were.
    if axes <= set(behind_axes(x, places)):
        return like(x, places, values, shape)
    return like(x, *joined(np.stack(kept), values, shape[: len(kept)]), shape, joined=True)


def behind_axes(x: SparseTensor, places: np.ndarray) -> range:
    """The axes without coordinates."""
    return range(len(places), x.ndim)


def _sum_dtype(own: DType, asked: DTypeLike | None) -> DType:
    if asked is not None:
        return dtypes.convert(asked)
    # Sums of bools and integers are int64, as in Paddle.
    if own.np.kind in "biu":
        return dtypes.convert("int64")
    return own
