"""Functions whose results have a size given beforehand: for compiled functions, where a shape cannot depend
on values. Ours; Paddle has none.

What is more than `size` is left out, what is missing is filled up, so the shape is known without the values.

    >>> paddle.bounded.nonzero(paddle.to_tensor([0, 3, 4]), size=3).tolist()
    [[1], [2], [0]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from paddle_jax._core.ops.op import op
from paddle_jax.sparse.bounded import convolved_far, of_dense, pooled_far, summed, together
from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.nn.functional import pooling, products

if TYPE_CHECKING:
    import jax

    from paddle_jax._core.tensors.tensor import Tensor


__all__ = [
    "coalesce",
    "masked_select",
    "nonzero",
    "sparse_add",
    "sparse_conv2d",
    "sparse_conv3d",
    "sparse_max_pool3d",
    "sparse_sum",
    "to_sparse_coo",
    "unique",
]


def _checked(name: str, size: int) -> int:
    if size < 0:
        raise ValueError(f"bounded.{name}: size: got {size}; it must be at least 0")
    return size


@op(method=False, register=False, nondiff=True)
def nonzero(x: jax.Array, size: int, fill_value: int = 0) -> jax.Array:
    """The indices of the first `size` elements that are not zero.

    Args:
        x: Tensor of at least one axis.
        size: int, the number of rows of the result.
        fill_value: int, what rows without an element hold.
    Returns:
        int64 Tensor [size, x.ndim].
    Raises:
        ValueError: size is negative or x is 0-D.
    Example:
        >>> paddle.bounded.nonzero(paddle.to_tensor([0, 3, 4]), 3, fill_value=-1).tolist()
        [[1], [2], [-1]]
    """
    if x.ndim == 0:
        raise ValueError("bounded.nonzero: x: got a 0-D tensor; it needs at least one axis")
    return jnp.stack(jnp.nonzero(x, size=_checked("nonzero", size), fill_value=fill_value), 1)


@op("x mask", method=False, register=False)
def masked_select(x: jax.Array, mask: jax.Array, size: int, fill_value: float = 0) -> jax.Array:
    """The first `size` elements where a mask is True.

    Args:
        x: Tensor.
        mask: bool Tensor that broadcasts with x.
        size: int, the number of elements of the result.
        fill_value: number, what stands where no element is left.
    Returns:
        Tensor [size], dtype of x.
    Raises:
        ValueError: size is negative or the shapes do not broadcast.
    Example:
        >>> x = paddle.to_tensor([1.0, -2.0, 3.0])
        >>> paddle.bounded.masked_select(x, x > 0, 3).tolist()
        [1.0, 3.0, 0.0]
    """
    x, mask = jnp.broadcast_arrays(x, mask)
    places = jnp.flatnonzero(mask, size=_checked("masked_select", size), fill_value=x.size)
    return x.ravel().at[places].get(mode="fill", fill_value=0) + jnp.where(
        places == x.size, fill_value, 0
    ).astype(x.dtype)


@op(method=False, register=False, nondiff=True)
def unique(x: jax.Array, size: int, fill_value: float | None = None) -> tuple[jax.Array, ...]:
    """The first `size` distinct elements in ascending order, and how often each occurs.

    Args:
        x: Tensor.
        size: int, the number of elements of the result.
        fill_value: number, what stands where no element is left. Default: the least element.
    Returns:
        (Tensor [size] of the dtype of x, int64 Tensor [size] of counts; 0 where no element is left).
    Raises:
        ValueError: size is negative.
    Example:
        >>> values, counts = paddle.bounded.unique(paddle.to_tensor([3, 1, 3]), 3, fill_value=0)
        >>> values.tolist(), counts.tolist()
        ([1, 3, 0], [1, 2, 0])
    """
    return tuple(
        jnp.unique(x.ravel(), size=_checked("unique", size), fill_value=fill_value, return_counts=True)
    )


def to_sparse_coo(x: Tensor, sparse_dim: int, nnz: int) -> SparseCooTensor:
    """The elements that are not 0 by coordinates, with room for nnz of them; what is missing is filled up
    with zeros at the last coordinate.

    Works inside compiled functions. Products, sums of two, functions element by element, `to_dense` and
    submanifold convolutions take the result; what counts elements (batch normalisation, softmax, pooling,
    masks) needs `coalesce()` outside of compiled functions first, and says so.

    Args:
        x: Tensor.
        sparse_dim: int, the number of leading axes that get coordinates.
        nnz: int, the number of elements of the result.
    Returns:
        SparseCooTensor with nnz elements, with gradients.
    Raises:
        ValueError: there are more elements than nnz, nnz is negative, or there are not so many axes. In a
            compiled function the first is raised by its call, or at the latest when a result is read.
    Example:
        >>> x = paddle.bounded.to_sparse_coo(paddle.to_tensor([[0.0, 2.0], [0.0, 0.0]]), 2, nnz=2)
        >>> x.indices().tolist(), x.values().tolist(), x.to_dense().tolist()
        ([[0, 0], [1, 1]], [2.0, 0.0], [[0.0, 2.0], [0.0, 0.0]])
    """
    if not 0 < sparse_dim <= x.ndim:
        raise ValueError(
            f"bounded.to_sparse_coo: sparse_dim: got {sparse_dim}; "
            f"a Tensor of {x.ndim} axes allows 1..{x.ndim}"
        )
    return of_dense(x, sparse_dim, _checked("to_sparse_coo", nnz))


def coalesce(x: Any, nnz: int) -> SparseCooTensor:
    """Sorts the coordinates and adds up the elements of equal ones, with room for nnz of them; filled up as
    by `to_sparse_coo`.

    Args:
        x: SparseCooTensor.
        nnz: int, the number of elements of the result.
    Returns:
        SparseCooTensor with nnz elements, with gradients.
    Raises:
        ValueError: as for `to_sparse_coo`.
        NotImplementedError: x is not a SparseCooTensor.
    Example:
        >>> x = paddle.bounded.coalesce(paddle.sparse.sparse_coo_tensor([[1, 0, 1]], [1.0, 2.0, 4.0]), nnz=2)
        >>> x.indices().tolist(), x.values().tolist()
        ([[0, 1]], [2.0, 5.0])
    """
    return _together("coalesce", nnz, x)


def sparse_add(x: Any, y: Any, nnz: int) -> SparseCooTensor:
    """The sum of two sparse Tensors, at the coordinates of both, with room for nnz elements; filled up as by
    `to_sparse_coo`.

    Args:
        x, y: SparseCooTensors of one shape, with coordinates of the same axes.
        nnz: int, the number of elements of the result; the numbers of both together are always enough.
    Returns:
        SparseCooTensor with nnz elements, with gradients.
    Raises:
        ValueError: as for `to_sparse_coo`, or the shapes differ.
        NotImplementedError: x or y is not a SparseCooTensor.
    Example:
        >>> x, y = (paddle.sparse.sparse_coo_tensor([[0, n]], [1.0, 2.0], [3]) for n in (1, 2))
        >>> paddle.bounded.sparse_add(x, y, nnz=3).values().tolist()
        [2.0, 2.0, 2.0]
    """
    return _together("sparse_add", nnz, x, y)


def _together(name: Any, nnz: Any, *tensors: Any) -> SparseCooTensor:
    for x in tensors:
        if not isinstance(x, SparseCooTensor):
            raise NotImplementedError(f"bounded.{name}: got {type(x).__name__}; give a SparseCooTensor")
    kinds = [(list(x.shape), x.sparse_dim()) for x in tensors]
    if any(kind != kinds[0] for kind in kinds):
        raise ValueError(
            f"bounded.{name}: got shapes and numbers of axes with coordinates {kinds[0]} and "
            f"{kinds[1]}; they must be equal"
        )
    return together(name, tensors, _checked(name, nnz))


def sparse_sum(x: Any, axis: Any, nnz: int, keepdim: bool = False) -> SparseCooTensor:
    """The sum of a sparse Tensor over axes, with room for nnz elements; filled up as by `to_sparse_coo`.

    Args:
        x: SparseCooTensor.
        axis: int or list of ints; at least one axis with coordinates must be left, or `keepdim` be set.
        nnz: int, the number of elements of the result; that of x is always enough.
        keepdim: keep the summed axes with length 1.
    Returns:
        SparseCooTensor with nnz elements, with gradients.
    Raises:
        ValueError: as for `to_sparse_coo`, an axis is out of range, or no axis with coordinates is left.
        NotImplementedError: x is not a SparseCooTensor.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [1.0, 2.0, 4.0], [2, 3])
        >>> paddle.bounded.sparse_sum(x, 0, nnz=2).to_dense().tolist()
        [2.0, 0.0, 5.0]
    """
    _need_sparse("sparse_sum", x)
    axes = [axis] if isinstance(axis, int) else list(axis)
    if any(not -x.ndim <= a < x.ndim for a in axes):
        raise ValueError(
            f"bounded.sparse_sum: axis: got {axis} for a Tensor of {x.ndim} axes; use {-x.ndim}..{x.ndim - 1}"
        )
    axes = {a % x.ndim for a in axes}
    if not keepdim and axes >= set(range(x.sparse_dim())):
        raise ValueError(
            f"bounded.sparse_sum: axis: got {axis}, all {x.sparse_dim()} axes with coordinates; "
            "the sum is `x.values().sum(0)`"
        )
    return summed(x, axes, keepdim, _checked("sparse_sum", nnz))


def sparse_conv3d(
    x: Any, weight: Tensor, nnz: int, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> SparseCooTensor:
    """`paddle.sparse.nn.functional.conv3d` with room for nnz elements in the result; filled up as by
    `to_sparse_coo`.

    Args:
        x: SparseCooTensor [n, depth, height, width, in_channels]. One without elements counts as one with a
            zero at the first coordinate.
        weight: Tensor [depth, height, width, in_channels, out_channels].
        nnz: int, the number of elements of the result; that of x times the elements of the kernel
            is always enough.
        bias, stride, padding, dilation: as for `conv3d`.
    Returns:
        SparseCooTensor with nnz elements, with gradients.
    Raises:
        ValueError: as for `to_sparse_coo`, or a shape or number does not fit.
        NotImplementedError: x is not a SparseCooTensor.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 0], [1, 1], [0, 2]], [[1.0], [2.0]],
        ...                                     [1, 1, 3, 3, 1])
        >>> paddle.bounded.sparse_conv3d(x, paddle.ones([1, 1, 2, 1, 1]), nnz=3).values().flatten().tolist()
        [1.0, 2.0, 0.0]
    """
    return _convolved("sparse_conv3d", x, weight, nnz, bias, stride, padding, dilation, 3)


def sparse_conv2d(
    x: Any, weight: Any, nnz: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> SparseCooTensor:
    """`sparse_conv3d` for images: x is [n, height, width, in_channels], weight [height, width,
    in_channels, out_channels].

    Args:
        x: SparseCooTensor [n, height, width, in_channels].
        weight: Tensor [height, width, in_channels, out_channels].
        nnz, bias, stride, padding, dilation: as for `sparse_conv3d`, with two axes of space.
    Returns:
        SparseCooTensor with nnz coordinates.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [1, 1], [0, 2]], [[1.0], [2.0]], [1, 3, 3, 1])
        >>> paddle.bounded.sparse_conv2d(x, paddle.ones([3, 3, 1, 1]), nnz=1).values().tolist()
        [[3.0]]
    """
    return _convolved("sparse_conv2d", x, weight, nnz, bias, stride, padding, dilation, 2)


def sparse_max_pool3d(
    x: Any, kernel_size: Any, nnz: int, stride: Any = None, padding: Any = 0
) -> SparseCooTensor:
    """`paddle.sparse.nn.functional.max_pool3d` with room for nnz elements in the result; filled up as by
    `to_sparse_coo`. x may be filled up, too.

    Args:
        x: SparseCooTensor [n, depth, height, width, channels].
        nnz: int, the number of elements of the result; that of x times the elements of the window
            is always enough.
        kernel_size, stride, padding: as for `max_pool3d`.
    Returns:
        SparseCooTensor with nnz elements, with gradients.
    Raises:
        ValueError: as for `to_sparse_coo`, or a shape or number does not fit.
        NotImplementedError: x is not a SparseCooTensor.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 0], [1, 1], [0, 1]], [[-1.0], [-2.0]],
        ...                                     [1, 2, 2, 2, 1])
        >>> paddle.bounded.sparse_max_pool3d(x, 2, nnz=2).values().tolist()
        [[-1.0], [0.0]]
    """
    _need_sparse("sparse_max_pool3d", x)
    window, space = pooling.window_of("bounded.sparse_max_pool3d", x, kernel_size, stride, padding)
    return pooled_far("sparse_max_pool3d", x, window, space, _checked("sparse_max_pool3d", nnz))


def _need_sparse(name: Any, x: Any) -> None:
    if not isinstance(x, SparseCooTensor):
        raise NotImplementedError(f"bounded.{name}: x: got {type(x).__name__}; give a SparseCooTensor")


def _convolved(
    name: Any, x: Any, weight: Any, nnz: Any, bias: Any, stride: Any, padding: Any, dilation: Any, axes: Any
) -> SparseCooTensor:
    _need_sparse(name, x)
    window, space = products.window_of(f"bounded.{name}", x, weight, stride, padding, dilation, axes)
    return convolved_far(name, x, weight, bias, window, space, _checked(name, nnz))
