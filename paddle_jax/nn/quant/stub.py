"""A place in a network where an observer or quanter can be put."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.quantization.config import SingleLayerConfig


class Stub(Layer):
    """Marks a place whose activations shall be quantized; it gives its input until `QAT` or `PTQ` puts
    an observer there.

    Args:
        observer: factory of the observer or quanter. Default: that of the configuration.
    Example:
        >>> paddle.nn.quant.Stub()(paddle.to_tensor([1.0])).tolist()
        [1.0]
    """

    def __init__(self, observer: Any = None) -> None:
        super().__init__()
        self._observer = observer

    def forward(self, input: Any) -> Any:
        return input


class QuanterStub(Layer):
    """What `QAT` and `PTQ` put in place of a `Stub`: applies the stub's observer, or that of
    the configuration.

    Args:
        layer: the Stub.
        q_config: SingleLayerConfig with a factory as `activation`, or None there.
    """

    def __init__(self, layer: Layer, q_config: SingleLayerConfig) -> None:
        super().__init__()
        # An observer of the stub itself comes before the configuration.
        if layer._observer is None:
            factory = q_config.activation
        else:
            factory = layer._observer
        if factory is None:
            self._observer = None
        else:
            self._observer = factory._instance(layer)

    def forward(self, input: Tensor) -> Tensor:
        if self._observer is None:
            return input
        return self._observer(input)
