"""A layer with an observer before or behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax.nn.layer.layers import Layer

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor


class ObserveWrapper(Layer):
    """Applies an observer to the inputs of a layer, or to its output.

    Args:
        observer: BaseQuanter.
        observed: Layer.
        observe_input: False to watch the output.
    """

    def __init__(self, observer: Layer, observed: Layer, observe_input: bool = True) -> None:
        super().__init__()
        self._observer = observer
        self._observed = observed
        self._observe_input = observe_input

    def forward(self, *inputs: Any, **kwargs: Any) -> Tensor:
        if self._observe_input:
            return self._observed(self._observer(*inputs, **kwargs))
        return self._observer(self._observed(*inputs, **kwargs))
