"""Layers that do what an operation does, so that a quantizer can find them in the tree of a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.nn.layer.layers import Layer
from paddle_jax.tensor import linalg, manipulation, math

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


__all__ = []


class FloatFunctionalLayer(Layer):
    """The base of the layers that wrap one operation."""

    def __init__(self) -> None:
        super().__init__()


class add(FloatFunctionalLayer):
    """The layer of `paddle.add`.

    Example:
        >>> paddle.nn.quant.add()(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
        [3.0]
    """

    def forward(self, x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
        return math.add(x, y)


class subtract(FloatFunctionalLayer):
    """The layer of `paddle.subtract`, see `add`."""

    def forward(self, x: Any, y: Any, name: str | None = None) -> Any:
        return math.subtract(x, y)


class multiply(FloatFunctionalLayer):
    """The layer of `paddle.multiply`, see `add`."""

    def forward(self, x: Any, y: Any, name: str | None = None) -> Any:
        return math.multiply(x, y)


class divide(FloatFunctionalLayer):
    """The layer of `paddle.divide`, see `add`."""

    def forward(self, x: Any, y: Any, name: str | None = None) -> Any:
        return math.divide(x, y)


class reshape(FloatFunctionalLayer):
    """The layer of `paddle.reshape`, see `add`."""

    def forward(self, x: Any, shape: Any, name: str | None = None) -> Any:
        return manipulation.reshape(x, shape)


class transpose(FloatFunctionalLayer):
    """The layer of `paddle.transpose`, see `add`."""

    def forward(self, x: Any, perm: Any, name: str | None = None) -> Any:
        return manipulation.transpose(x, perm)


class concat(FloatFunctionalLayer):
    """The layer of `paddle.concat`, see `add`."""

    def forward(self, x: Sequence[Tensor], axis: Any = 0, name: str | None = None) -> Tensor:
        return manipulation.concat(x, axis)


class flatten(FloatFunctionalLayer):
    """The layer of `paddle.flatten`, see `add`."""

    def forward(self, x: Any, start_axis: Any = 0, stop_axis: Any = -1, name: str | None = None) -> Any:
        return manipulation.flatten(x, start_axis, stop_axis)


class matmul(FloatFunctionalLayer):
    """The layer of `paddle.matmul`, see `add`."""

    def forward(
        self, x: Any, y: Any, transpose_x: Any = False, transpose_y: Any = False, name: str | None = None
    ) -> Any:
        return linalg.matmul(x, y, transpose_x, transpose_y)
