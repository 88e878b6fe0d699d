"""The view of a Layer: its tree, with shapes and counts."""

from __future__ import annotations

import dataclasses

from paddle_jax._core.base.out_of_memory import format_bytes
from paddle_jax._core.tensors.held_values import element_count, numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.views.markup import (
    Markup,
    chip,
    counted,
    element,
    fold,
    head,
    joined,
    row,
    shortened,
    soft,
    view,
)

_MOST_LAYERS = 1000  # in one view
_OPEN_DEPTH = 1  # layers below this depth are folded
_OPEN_CHILDREN = 24  # a layer with more children is folded


@dataclasses.dataclass
class _Budget:
    """How much more a view may show.

    Attributes:
        layers: int, layers that may follow.
        left_out: int, layers that were left out.
    """

    layers: int = _MOST_LAYERS
    left_out: int = 0


def layer_view(layer: Layer) -> Markup:
    """The view of a Layer. Shared parameters and layers count once in the totals."""
    parameters = {id(p): p for p in layer.parameters()}
    trainable = sum(element_count(p) for p in parameters.values() if not p.stop_gradient)
    whole = sum(map(element_count, parameters.values()))
    size = sum(element_count(p) * numpy_dtype(p).itemsize for p in parameters.values())
    facts = [head(type(layer).__name__), chip(counted(whole, "parameter")), chip(format_bytes(size))]
    if trainable < whole:
        facts.append(chip(f"{whole - trainable:,} frozen"))
    facts.append(chip("train" if layer.training else "eval"))
    return view(row(*facts), layer_body(layer))


def layer_body(layer: Layer) -> Markup:
    """The tree of a Layer, without its own line."""
    budget = _Budget()
    body = _contents(layer, 0, budget)
    if budget.left_out:
        return joined([body, soft(f"{budget.left_out:,} more layers")])
    return body


def _contents(layer: Layer, depth: int, budget: _Budget) -> Markup:
    """The parameters, buffers and layers of a Layer, a line each."""
    lines = [
        _tensor_line(name, tensor, "") for name, tensor in layer._parameters.items() if tensor is not None
    ]
    lines += [
        _tensor_line(name, tensor, "buffer") for name, tensor in layer._buffers.items() if tensor is not None
    ]
    for name, child in layer._sub_layers.items():
        if child is None:
            continue
        if budget.layers <= 0:
            budget.left_out += 1
            continue
        budget.layers -= 1
        lines.append(_layer_line(name, child, depth, budget))
    return joined(lines)


def _layer_line(name: str, layer: Layer, depth: int, budget: _Budget) -> Markup:
    """A layer inside another one."""
    settings = shortened(" ".join(layer.extra_repr().split()), 160)
    # A parameter that is shared counts once.
    count = sum(element_count(p) for p in {id(p): p for p in layer.parameters()}.values())
    parts = [soft(f"({name})"), " ", head(type(layer).__name__), soft(f"({settings})")]
    if count:
        parts += [" ", chip(f"{count:,}")]
    has_contents = any([layer._parameters, layer._buffers, layer._sub_layers])
    if not has_contents:
        return element("div", *parts, class_="leaf")
    # Small outer layers are open, all others closed.
    shown = depth < _OPEN_DEPTH and 0 < len(layer._sub_layers) <= _OPEN_CHILDREN
    return fold(joined(parts), _contents(layer, depth + 1, budget), shown=shown)


def _tensor_line(name: str, tensor: Tensor, kind: str) -> Markup:
    """A parameter or a buffer."""
    words = [name, " ", soft(f"{list(plain_shape(tensor))} {numpy_dtype(tensor)}")]
    if kind:
        words += [" ", soft(kind)]
    elif tensor.stop_gradient:
        words += [" ", soft("frozen")]
    return element("div", *words, class_="leaf")
