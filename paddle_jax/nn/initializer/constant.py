"""Initializers with given values: Constant, Assign, Dirac, Bilinear."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.nn.initializer.initializer import Initializer


class Constant(Initializer):
    """Fills with one number.

    Args:
        value: float, the number.
    Raises:
        ValueError: value is None.
    Example:
        >>> x = paddle.zeros([2]); paddle.nn.initializer.Constant(3.0)(x); x.tolist()
        [3.0, 3.0]
    """

    def __init__(self, value: float = 0.0) -> None:
        if value is None:
            raise ValueError("Constant: value: got None; it must be a number")
        self._value = value

    def _values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        return np.full(shape, self._value, dtype)


class Assign(Initializer):
    """Fills with the values of an array.

    Args:
        value: Tensor, NumPy array, list or tuple. As in Paddle, a parameter takes over the shape of `value`.
    Raises:
        AssertionError: value is none of these.
    Example:
        >>> attr = paddle.nn.initializer.Assign([[1.0, 2.0]])
        >>> paddle.nn.Linear(1, 2, weight_attr=attr).weight.tolist()
        [[1.0, 2.0]]
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        if not isinstance(value, np.ndarray | list | tuple | Tensor):
            raise AssertionError(
                f"Assign: value: got {type(value).__name__}; it must be a Tensor, NumPy array, list or tuple"
            )
        self._value = np.asarray(value)

    def _values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        return self._value.astype(dtype)


class Dirac(Initializer):
    """Fills a convolution weight so that the convolution hands its input channels through unchanged.

    Args:
        groups: int, in how many parts the output channels are seen; each part hands the input through.
    Raises:
        AssertionError: groups is not a positive int; a weight does not have 3 to 5 axes, or its first is not
            a multiple of groups.
    Example:
        >>> conv = paddle.nn.Conv1D(2, 2, 3, padding=1, weight_attr=paddle.nn.initializer.Dirac())
        >>> x = paddle.rand([1, 2, 5]); bool((conv(x) == x).all())
        True
    """

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        if not (groups > 0 and isinstance(groups, int)):
            raise AssertionError(f"Dirac: groups: got {groups!r}; it must be a positive int")
        self._groups = groups

    def _values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        if not 3 <= len(shape) <= 5:
            raise AssertionError(
                f"Dirac: got a tensor of shape {list(shape)}; only convolution weights with "
                "3, 4 or 5 axes can be filled"
            )
        if shape[0] % self._groups:
            raise AssertionError(
                f"Dirac: got {shape[0]} output channels; they must be a multiple of groups={self._groups}"
            )
        out = np.zeros(shape, dtype)
        part = shape[0] // self._groups
        # A one in the middle of the kernel passes a channel on.
        centre = tuple(n // 2 for n in shape[2:])
        # The longer side has channels without a partner; their kernels are zero.
        channels = np.arange(min(part, shape[1]))
        for group in range(self._groups):
            out[(group * part + channels, channels, *centre)] = 1
        return out


class Bilinear(Initializer):
    """Fills the weight of a transposed convolution for bilinear upsampling.

    The weight must have shape [C_out, C_in, K, K].

    Raises:
        ValueError: the weight has another shape.
    Example:
        >>> attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Bilinear(), learning_rate=0.0)
        >>> up = paddle.nn.Conv2DTranspose(3, 3, 4, stride=2, padding=1, groups=3, weight_attr=attr,
        ...                                bias_attr=False)
        >>> up(paddle.ones([1, 3, 4, 4])).shape
        paddle.Size([1, 3, 8, 8])
    """

    def _values(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        if len(shape) != 4 or shape[2] != shape[3]:
            raise ValueError(f"Bilinear: got a weight of shape {list(shape)}; it must be [C_out, C_in, K, K]")
        size = shape[3]
        factor = np.ceil(size / 2.0)
        centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        index = np.arange(size * size)
        # Paddle divides without rounding here, so the row coordinate is fractional; its values are
        # reproduced.
        x = index % size
        y = (index / size) % size
        plane = (1 - abs(x / factor - centre)) * (1 - abs(y / factor - centre))
        return np.broadcast_to(plane.reshape(size, size), shape).astype(dtype)


__all__ = ["Assign", "Bilinear", "Constant", "Dirac"]
