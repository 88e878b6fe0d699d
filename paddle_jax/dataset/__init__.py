"""paddle.dataset: where files of data sets are kept, and readers of them."""

from importlib import import_module

from paddle_jax.dataset import common

__all__ = []


def __getattr__(name):
    # The readers stand on the classes of vision.datasets, which stand on dataset.common: they load when they are asked for.
    if name == "mnist":
        return import_module("paddle_jax.dataset.mnist")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
