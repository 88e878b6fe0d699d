"""Activations of sparse Tensors as layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle_jax.nn.layer.layers import Layer
from paddle_jax.sparse.nn import functional as F

if TYPE_CHECKING:
    from paddle_jax.sparse.base import SparseTensor

__all__ = []


class _Activation(Layer):
    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def extra_repr(self) -> str:
        """The name, if there is one."""
        if self._name:
            return f"name={self._name}"
        return ""


class ReLU(_Activation):
    """`paddle.sparse.nn.functional.relu` as a layer.

    Example:
        >>> paddle.sparse.nn.ReLU()(paddle.sparse.sparse_coo_tensor([[0], [1]], [-2.0])).values().tolist()
        [0.0]
    """

    def forward(self, x: SparseTensor) -> SparseTensor:
        """max(x, 0) of the elements that are kept."""
        return F.relu(x)


class ReLU6(_Activation):
    """`paddle.sparse.nn.functional.relu6` as a layer.

    Example:
        >>> paddle.sparse.nn.ReLU6()(paddle.sparse.sparse_coo_tensor([[0], [1]], [9.0])).values().tolist()
        [6.0]
    """

    def forward(self, x: SparseTensor) -> SparseTensor:
        """min(max(x, 0), 6) of the elements that are kept."""
        return F.relu6(x)


class LeakyReLU(_Activation):
    """`paddle.sparse.nn.functional.leaky_relu` as a layer.

    Args:
        negative_slope: number. Default 0.01.
    Example:
        >>> paddle.sparse.nn.LeakyReLU(0.5)(paddle.sparse.sparse_coo_tensor([[0], [1]],
        ...                                                                 [-2.0])).values().tolist()
        [-1.0]
    """

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__(name)
        self._negative_slope = negative_slope

    def forward(self, x: SparseTensor) -> SparseTensor:
        """x where it is positive, negative_slope * x elsewhere, of the elements that are kept."""
        return F.leaky_relu(x, self._negative_slope)


class Softmax(_Activation):
    """`paddle.sparse.nn.functional.softmax` as a layer.

    Args:
        axis: int, the axis along which they add up to 1. Default -1.
    Example:
        >>> x = paddle.sparse.sparse_csr_tensor([0, 2], [0, 1], [1.0, 1.0], [1, 2])
        >>> paddle.sparse.nn.Softmax()(x).values().tolist()
        [0.5, 0.5]
    """

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(name)
        self._axis = axis

    def forward(self, x: SparseTensor) -> SparseTensor:
        """The softmax of the elements that are kept in each row."""
        return F.softmax(x, self._axis)
