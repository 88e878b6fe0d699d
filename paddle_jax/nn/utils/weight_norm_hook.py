"""Weight normalisation: a weight as direction times length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.held_values import assign_from

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer


class WeightNorm:
    """The forward pre-hook that computes the weight from `name_v` and `name_g`."""

    def __init__(self, name: str, dim: int) -> None:
        self.name = name
        self.dim = dim

    def compute(self, layer: Layer) -> Tensor:
        """The weight: v scaled to length g, per slice along `dim` (as a whole for dim -1)."""
        v = getattr(layer, self.name + "_v")
        g = getattr(layer, self.name + "_g")
        scale = g / _norm(v, self.dim)
        # The direction of v with the length g (Salimans and Kingma, 2016).
        return v * (
            scale
            if self.dim == -1
            else scale.reshape([-1 if axis == self.dim else 1 for axis in range(v.ndim)])
        )

    def __call__(self, layer: Layer, inputs: Any) -> None:
        setattr(layer, self.name, self.compute(layer))


def _norm(v: Tensor, dim: int) -> Tensor:
    square = v * v
    return (square.sum() if dim == -1 else square.sum([axis for axis in range(v.ndim) if axis != dim])).sqrt()


def _hook_of(layer: Layer, name: str) -> tuple[int, WeightNorm] | tuple[None, None]:
    for key, hook in layer._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return key, hook
    return None, None


def _add(layer: Layer, name: str, value: Tensor) -> None:
    parameter = layer.create_parameter(value.shape, dtype=value.dtype)
    assign_from(parameter, value)
    layer.add_parameter(name, parameter)


def weight_norm(layer: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Replaces a parameter w of a layer by two, the direction v and the length g: w = g v / |v|.

    Args:
        layer: Layer.
        name: str, the parameter; `name_v` and `name_g` take its place.
        dim: int, lengths are taken per slice along this axis; None (or -1) for one length.
    Returns:
        The layer.
    Raises:
        RuntimeError: the parameter is normalised already.
        KeyError: there is no such parameter.
        AssertionError: dim is out of range.
    Example:
        >>> conv = paddle.nn.utils.weight_norm(paddle.nn.Conv2D(3, 4, 3))
        >>> conv.weight_g.shape, conv.weight_v.shape
        (paddle.Size([4]), paddle.Size([4, 3, 3, 3]))
    See: Salimans and Kingma, Weight Normalization, 2016.
    """
    if _hook_of(layer, name)[1] is not None:
        raise RuntimeError(
            f"weight_norm: {name!r} of this layer is normalised already; remove_weight_norm takes it away"
        )
    if name not in layer._parameters:
        raise KeyError(name)
    weight = layer._parameters[name]
    # Without an axis the whole weight has one length.
    if dim is None:
        dim = -1
    if not -weight.ndim <= dim < weight.ndim:
        raise AssertionError(
            f"weight_norm: dim: got {dim}; the parameter has {weight.ndim} axes; "
            f"use {-weight.ndim}..{weight.ndim - 1} or None"
        )
    # -1 stands for the whole weight; other negative axes count from the end.
    if dim < -1:
        dim = dim + weight.ndim
    delattr(layer, name)
    # Values alone: both begin a history of their own.
    with no_grad():
        _add(layer, name + "_v", weight)
        _add(layer, name + "_g", _norm(weight, dim))
    hook = WeightNorm(name, dim)
    # The weight is there from now on, not only after the first call.
    hook(layer, None)
    layer.register_forward_pre_hook(hook)
    return layer


def remove_weight_norm(layer: Layer, name: str = "weight") -> Layer:
    """Makes one parameter again of the two that `weight_norm` made.

    Args:
        layer: Layer.
        name: str, the parameter.
    Returns:
        The layer.
    Raises:
        ValueError: the parameter is not normalised.
    Example:
        >>> conv = paddle.nn.utils.remove_weight_norm(paddle.nn.utils.weight_norm(paddle.nn.Conv2D(3, 4, 3)))
        >>> list(conv.state_dict())
        ['bias', 'weight']
    """
    key, hook = _hook_of(layer, name)
    if hook is None:
        raise ValueError(f"remove_weight_norm: {name!r} of {layer} is not normalised")
    # The product becomes the parameter, which is trained from now on.
    with no_grad():
        weight = hook.compute(layer)
    for attribute in (name, name + "_g", name + "_v"):
        delattr(layer, attribute)
    del layer._forward_pre_hooks[key]
    _add(layer, name, weight)
    return layer
