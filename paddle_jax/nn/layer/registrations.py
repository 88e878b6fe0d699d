"""Parts of a Layer that packages above `nn` supply when they are imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class Registered:
    """What has been registered.

    Attributes:
        layer_helper: the class LayerHelper, from `base/layer_helper.py`.
        build_sharded_state_dict: function of a state dict and a prefix, from
            `distributed/checkpoint/sharded_weight.py`.
        shard_states: function of an optimizer and the parts of its model, from the same file.
    """

    layer_helper: ClassVar[Callable[..., Any]]
    build_sharded_state_dict: ClassVar[Callable[..., dict[str, Any]]]
    shard_states: ClassVar[Callable[..., dict[str, Any]]]


__all__ = ["Registered"]
