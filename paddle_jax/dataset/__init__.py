"""paddle.dataset: where files of data sets are kept, and readers of them."""

from __future__ import annotations


from typing import TYPE_CHECKING
from importlib import import_module

from paddle_jax.dataset import common as common

if TYPE_CHECKING:
    import types


__all__ = []
_READERS = (
    "cifar",
    "conll05",
    "flowers",
    "image",
    "imdb",
    "imikolov",
    "mnist",
    "movielens",
    "uci_housing",
    "wmt14",
    "wmt16",
)


def __getattr__(name: str) -> types.ModuleType:
    # The readers stand on the classes of vision.datasets, which stand on dataset.common: they load when they
    # are asked for.
    if name in _READERS:
        return import_module(f"paddle_jax.dataset.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
