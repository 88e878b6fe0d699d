"""Pooling of sparse Tensors as a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.nn.layer.layers import Layer
from paddle_jax.sparse.nn import functional as F

if TYPE_CHECKING:
    from paddle_jax._annotations import Padding, Size
    from paddle_jax.sparse.base import SparseTensor

__all__ = []


class MaxPool3D(Layer):
    """`paddle.sparse.nn.functional.max_pool3d` as a layer.

    Args:
        kernel_size, stride, padding, ceil_mode, data_format: as for the function.
        return_mask: accepted; there is no mask, as in Paddle.
    Attributes:
        stride, padding, return_mask, ceil_mode, data_format, name: as given.
        ksize: int, list or tuple, the argument kernel_size.
    Example:
        >>> x = paddle.sparse.sparse_coo_tensor([[0, 0], [0, 0], [1, 1], [0, 1]], [[-1.0], [-2.0]],
        ...                                     [1, 2, 2, 2, 1])
        >>> paddle.sparse.nn.MaxPool3D(2)(x).values().tolist()
        [[-1.0]]
    """

    def __init__(
        self,
        kernel_size: Size,
        stride: Size | None = None,
        padding: Padding = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NDHWC",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.ksize = kernel_size
        self.stride = stride
        self.padding = padding
        self.return_mask = return_mask
        self.ceil_mode = ceil_mode
        self.data_format = data_format
        self.name = name

    def forward(self, x: SparseTensor) -> SparseTensor:
        """The largest elements."""
        return F.max_pool3d(x, self.ksize, self.stride, self.padding, self.ceil_mode, self.data_format)

    def extra_repr(self) -> str:
        """The settings."""
        return f"kernel_size={self.ksize}, stride={self.stride}, padding={self.padding}"
