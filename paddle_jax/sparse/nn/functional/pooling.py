"""Pooling of sparse Tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.geometric.pooling import pooled
from paddle_jax.sparse.coo import SparseCooTensor
from paddle_jax.sparse.nn.functional.products import numbers, sides
from paddle_jax.sparse.nn.functional.rulebook import Window, rulebook
from paddle_jax.sparse.pattern import need_exact
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.gathering import gather

if TYPE_CHECKING:
    from paddle_jax._annotations import Padding, Size
    from paddle_jax.sparse.base import SparseTensor

__all__ = []


def max_pool3d(
    x: SparseTensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> SparseTensor:
    """The largest of the elements that are kept in each window, channel by channel; windows without any have
    none in the result.

    Args:
        x: SparseCooTensor [n, depth, height, width, channels] with coordinates of all axes but the last.
        kernel_size: int or 3 ints.
        stride: int or 3 ints. Default: kernel_size.
        padding: int, 3 ints, 6 ints or 5 pairs, as for `conv3d`.
        ceil_mode: bool; it has no effect, as in Paddle: lengths are rounded down.
        data_format: "NDHWC".
    Returns:
        SparseCooTensor [n, depth, height, width, channels], its coordinates sorted. A gradient goes in full
        to each element that is the largest.
    Raises:
        AssertionError: x is not a SparseCooTensor, or data_format is not allowed.
        ValueError: a shape or number does not fit.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 0], [1, 1], [0, 1]], [[-1.0], [-2.0]],
        ...                                     [1, 2, 2, 2, 1])
        >>> paddle.sparse.nn.functional.max_pool3d(x, 2).values().tolist()
        [[-1.0]]
    """
    if not isinstance(x, SparseCooTensor):
        raise AssertionError(f"max_pool3d: x: got {type(x).__name__}; give a SparseCooTensor")
    if data_format != "NDHWC":
        raise AssertionError(f"max_pool3d: data_format: got {data_format!r}; only 'NDHWC' is allowed")
    need_exact("max_pool3d", x)
    window, space = window_of("max_pool3d", x, kernel_size, stride, padding)
    book = rulebook(x, window, space)
    values = pooled(
        gather(x.values(), to_tensor(book.rows)), to_tensor(book.targets), book.places.shape[1], "max"
    )
    return SparseCooTensor(
        to_tensor(book.places).astype(x.indices().dtype), values, [x.shape[0], *space, x.shape[-1]]
    )


def window_of(
    name: str, x: SparseTensor, kernel_size: Size, stride: Size | None, padding: Padding
) -> tuple[Window, list[int]]:
    """(the window, the lengths of the result)."""
    if x.ndim != 5 or x.dense_dim() != 1:
        raise ValueError(
            f"{name}: x: got shape {list(x.shape)} with {x.sparse_dim()} axes with coordinates; "
            "five are needed, four with them"
        )
    kernel = numbers(name, "kernel_size", kernel_size, 3)
    if stride is None:
        stride = kernel
    else:
        stride = numbers(name, "stride", stride, 3)
    window = Window(kernel, stride, sides(name, padding, 3), (1, 1, 1))
    space = window.lengths(x.shape[1:-1])
    if min(space) < 1:
        raise ValueError(
            f"{name}: x: got shape {list(x.shape)}, smaller than the window {list(kernel)}; "
            f"the result would have {space}"
        )
    return window, space
