"""Which kinds of layers are pruned."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from paddle_jax._core.base.pruning_state import PruningState
from paddle_jax.nn.layer.layers import Layer


def add_supported_layer(layer: Layer, pruning_func: Callable[..., Any] | None = None) -> None:
    """Makes weights of a kind of layers prunable.

    Args:
        layer: Layer, class of Layers, or the name of a kind as in `linear_0`: "linear".
        pruning_func: function of (weight array, m, n, MaskAlgo, name of the parameter) that returns the
            pruned weight and the mask. Default: that of `prune_model`.
    Raises:
        TypeError: layer is something else.
    Example:
        >>> paddle.incubate.asp.add_supported_layer("my_layer")
    """
    kind = layer if isinstance(layer, type) else type(layer)
    if isinstance(layer, str):
        name = layer
    elif issubclass(kind, Layer):
        # The name that Paddle gives such layers: words with underscores.
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind.__name__).lower()
    else:
        raise TypeError(
            f"add_supported_layer: layer: got {type(layer).__name__}; it must be a Layer, "
            "a class of Layers or a name"
        )
    PruningState.supported[name] = pruning_func
