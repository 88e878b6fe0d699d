"""Layers that are made later, by the process that has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.spec_utils import LayerSpec, build_spec_layer
from paddle_jax.nn import Layer

__all__ = []


class LayerDesc:
    """A Layer that is made later.

    Args:
        layer_func_or_spec: subclass of Layer, or a LayerSpec.
        inputs, kwargs: what it is made with; a LayerSpec takes kwargs only.
    Raises:
        TypeError: it is no such class, or a LayerSpec comes with inputs.
    Attributes:
        layer_func, inputs, kwargs: as given.
        using_layer_spec: whether it was made from a LayerSpec.
        layer_spec: the LayerSpec, in place of layer_func.
    Example:
        >>> from paddle_jax.distributed.fleet.meta_parallel import LayerDesc
        >>> LayerDesc(paddle.nn.Linear, 2, 3).build_layer().weight.shape
        paddle.Size([2, 3])
    """

    def __init__(self, layer_func_or_spec: Any, *inputs: Any, **kwargs: Any) -> None:
        self.using_layer_spec: bool = isinstance(layer_func_or_spec, LayerSpec)
        self.inputs = inputs
        self.kwargs = kwargs
        if self.using_layer_spec:
            if inputs:
                raise TypeError(
                    f"LayerDesc: inputs: got {len(inputs)} with a LayerSpec; it takes keyword arguments alone"
                )
            self.layer_spec: LayerSpec = layer_func_or_spec
            return
        if not (isinstance(layer_func_or_spec, type) and issubclass(layer_func_or_spec, Layer)):
            raise TypeError(
                f"LayerDesc: layer_func_or_spec: got {layer_func_or_spec!r}; "
                "it must be a subclass of paddle.nn.Layer, or a LayerSpec"
            )
        self.layer_func = layer_func_or_spec

    def build_layer(self, **extra_kwargs: Any) -> Layer:
        """The Layer, made with further keyword arguments."""
        if self.using_layer_spec:
            spec = self.layer_spec
            more = {**spec.extra_kwargs, **self.kwargs, **extra_kwargs}
            return build_spec_layer(LayerSpec(spec.layer, more, spec.sublayers_spec))
        return self.layer_func(*self.inputs, **{**self.kwargs, **extra_kwargs})

    def __repr__(self) -> str:
        named = [f"{name}={value!r}" for name, value in self.kwargs.items()]
        if self.using_layer_spec:
            return f"{self.layer_spec!r}({', '.join(named)})"
        return f"{self.layer_func.__name__}({', '.join([*map(repr, self.inputs), *named])})"


class _KeyedLayerDesc(LayerDesc):
    """What the descriptions of shared Layers and of shared Parameters have in common."""

    def __init__(
        self,
        key: str,
        layer_func: Any,
        forward_func: Callable[..., Any] | None = None,
        shared_weight_attr: str | Sequence[str] = "weight",
        *inputs: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(layer_func, *inputs, **kwargs)
        self.layer_name = key
        self.forward_func = forward_func
        self.shared_weight_attr = _names(type(self).__name__, shared_weight_attr)


class SharedLayerDesc(_KeyedLayerDesc):
    """A Layer that stands at several places of a list: those with the same key are one Layer.

    In a pipeline of several stages each stage that has one of these places has a copy. The copies begin with
    the values of the first one, and their gradients are summed before each step.

    Args:
        key: str.
        layer_func: subclass of Layer.
        forward_func: `f(layer, x)`, called in place of the Layer. Default None: the Layer.
        shared_weight_attr: name of the Parameter, or list of names, that stages keep alike.
        inputs, kwargs: what the Layer is made with.
    Example:
        >>> parallel = paddle.distributed.fleet.meta_parallel
        >>> first, last = (parallel.SharedLayerDesc("table", paddle.nn.Linear, in_features=2, out_features=2)
        ...                for _ in range(2))
        >>> first.layer_name == last.layer_name
        True
    """


class LocalSharedLayerDesc(_KeyedLayerDesc):
    """A Layer that has Parameters of another one of its stage, for PipelineLayers with `use_dualpipev`.

    The first place with a key makes its Layer. Later places make Layers of their own, which get the shared
    Parameters as arguments of the same names.

    Args:
        key: str.
        layer_func: subclass of Layer.
        forward_func: `f(layer, x)`, called in place of the Layer. Default None: the Layer.
        shared_weight_attr: name of the Parameter, or list of names, that Layers have in common.
        inputs, kwargs: what the Layer is made with.
    Example:
        >>> parallel = paddle.distributed.fleet.meta_parallel
        >>> parallel.LocalSharedLayerDesc(
        ...     "table", paddle.nn.Linear, in_features=2, out_features=2).shared_weight_attr
        ['weight']
    """


def _names(call: str, given: str | Sequence[str]) -> list[str]:
    """The names of shared Parameters as a list."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise CheckError(f"{call}: shared_weight_attr: got {given!r}; it must be a str or a list of str")
    return names
