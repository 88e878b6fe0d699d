"""Layers that do what an operation does, so that a quantizer can find them in the tree of a network."""

from paddle_jax.nn.layer.layers import Layer
from paddle_jax.tensor import linalg, manipulation, math

__all__ = []


class FloatFunctionalLayer(Layer):
    """The base of the layers that wrap one operation."""

    def __init__(self):
        super().__init__()


class add(FloatFunctionalLayer):
    """The layer of `paddle.add`.

    Example:
        >>> paddle.nn.quant.add()(paddle.to_tensor([1.0]), paddle.to_tensor([2.0])).tolist()
        [3.0]
    """

    def forward(self, x, y, name=None):
        return math.add(x, y)


class subtract(FloatFunctionalLayer):
    """The layer of `paddle.subtract`, see `add`."""

    def forward(self, x, y, name=None):
        return math.subtract(x, y)


class multiply(FloatFunctionalLayer):
    """The layer of `paddle.multiply`, see `add`."""

    def forward(self, x, y, name=None):
        return math.multiply(x, y)


class divide(FloatFunctionalLayer):
    """The layer of `paddle.divide`, see `add`."""

    def forward(self, x, y, name=None):
        return math.divide(x, y)


class reshape(FloatFunctionalLayer):
    """The layer of `paddle.reshape`, see `add`."""

    def forward(self, x, shape, name=None):
        return manipulation.reshape(x, shape)


class transpose(FloatFunctionalLayer):
    """The layer of `paddle.transpose`, see `add`."""

    def forward(self, x, perm, name=None):
        return manipulation.transpose(x, perm)


class concat(FloatFunctionalLayer):
    """The layer of `paddle.concat`, see `add`."""

    def forward(self, x, axis=0, name=None):
        return manipulation.concat(x, axis)


class flatten(FloatFunctionalLayer):
    """The layer of `paddle.flatten`, see `add`."""

    def forward(self, x, start_axis=0, stop_axis=-1, name=None):
        return manipulation.flatten(x, start_axis, stop_axis)


class matmul(FloatFunctionalLayer):
    """The layer of `paddle.matmul`, see `add`."""

    def forward(self, x, y, transpose_x=False, transpose_y=False, name=None):
        return linalg.matmul(x, y, transpose_x, transpose_y)
