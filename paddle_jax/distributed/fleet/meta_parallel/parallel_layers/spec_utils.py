"""Descriptions of layers that name a class, or the module that has it, and what it is made with."""

from __future__ import annotations

import importlib
import types
import warnings
from dataclasses import dataclass, field
from typing import Any

__all__ = []


@dataclass(repr=False)
class LayerSpec:
    """A Layer that is made later, by `build_spec_layer` or by a LayerDesc.

    Args:
        layer: a class or a function, or (module, name) of one.
        extra_kwargs: dict of keyword arguments that it is made with.
        sublayers_spec: what it gets as `sublayers_spec`. Default None: nothing.
    Example:
        >>> parallel = paddle.distributed.fleet.meta_parallel
        >>> spec = parallel.LayerSpec(paddle.nn.Linear, {"in_features": 2, "out_features": 3})
        >>> parallel.build_spec_layer(spec).weight.shape
        paddle.Size([2, 3])
    """

    layer: Any
    extra_kwargs: dict[str, Any] = field(default_factory=dict)
    sublayers_spec: Any = None

    def __repr__(self) -> str:
        if isinstance(self.layer, tuple):
            return "".join(f"{part!r}," for part in self.layer)
        return f"{self.layer!r}{self.extra_kwargs!r}"


def import_spec_layer(layer_path: tuple[str, str]) -> Any:
    """The class or function of a module.

    Args:
        layer_path: (module, name).
    Raises:
        ImportError: there is no such module. KeyError: it has no such name.
    Returns:
        class or function.
    Example:
        >>> parallel = paddle.distributed.fleet.meta_parallel
        >>> parallel.import_spec_layer(("collections", "Counter"))
        <class 'collections.Counter'>
    """
    module, name = layer_path
    return vars(importlib.import_module(module))[name]


def get_spec_layer(spec_or_layer: Any, **additional_kwargs: Any) -> Any:
    """The class or function that a description stands for.

    Args:
        spec_or_layer: LayerSpec, class or function.
        additional_kwargs: accepted.
    Returns:
        class or function.
    Example:
        >>> parallel = paddle.distributed.fleet.meta_parallel
        >>> parallel.get_spec_layer(parallel.LayerSpec(paddle.nn.ReLU)) is paddle.nn.ReLU
        True
    """
    if isinstance(spec_or_layer, type | types.FunctionType):
        return spec_or_layer
    if isinstance(spec_or_layer.layer, type | types.FunctionType):
        return spec_or_layer.layer
    return import_spec_layer(spec_or_layer.layer)


def build_spec_layer(spec_or_layer: Any, *args: Any, **kwargs: Any) -> Any:
    """Makes a Layer; gives a function as it is.

    Args:
        spec_or_layer: LayerSpec, class or function.
        args, kwargs: further arguments; those of the description come first, with a warning.
    Returns:
        Layer, or the function.
    Example:
        >>> parallel = paddle.distributed.fleet.meta_parallel
        >>> spec = parallel.LayerSpec(paddle.nn.Linear, {"in_features": 2})
        >>> parallel.build_spec_layer(spec, out_features=3).weight.shape
        paddle.Size([2, 3])
    """
    layer = get_spec_layer(spec_or_layer)
    if isinstance(layer, types.FunctionType):
        return layer
    if not isinstance(spec_or_layer, LayerSpec):
        return layer(*args, **kwargs)
    if spec_or_layer.sublayers_spec is not None:
        kwargs["sublayers_spec"] = spec_or_layer.sublayers_spec
    own = spec_or_layer.extra_kwargs
    for name in sorted(own.keys() & kwargs.keys()):
        warnings.warn(
            f"build_spec_layer: {name}: {layer.__name__} gets {own[name]!r} of extra_kwargs, not "
            f"{kwargs[name]!r}",
            stacklevel=2,
        )
    return layer(*args, **(kwargs | own))
