"""Runs of a network that must neither drop elements nor change statistics."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddle_jax.nn import Layer


@contextlib.contextmanager
def evaluation_mode(network: Layer) -> Iterator[None]:
    """A block in which a network is in evaluation mode. Then each of its layers has the mode before."""
    modes = [(layer, layer.training) for layer in network.sublayers(include_self=True)]
    network.eval()
    try:
        yield
    finally:
        for layer, is_training in modes:
            layer.training = is_training
