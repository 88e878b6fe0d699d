"""A layer with an observer before or behind it."""

from paddle_jax.nn.layer.layers import Layer


class ObserveWrapper(Layer):
    """Applies an observer to the inputs of a layer, or to its output.

    Args:
        observer: BaseQuanter.
        observed: Layer.
        observe_input: False to watch the output.
    """

    def __init__(self, observer, observed, observe_input=True):
        super().__init__()
        self._observer = observer
        self._observed = observed
        self._observe_input = observe_input

    def forward(self, *inputs, **kwargs):
        if self._observe_input:
            return self._observed(self._observer(*inputs, **kwargs))
        return self._observer(self._observed(*inputs, **kwargs))
