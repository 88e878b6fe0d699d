"""Layers as functions of their parameters."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.tensor.joining import stack

if TYPE_CHECKING:
    from paddle_jax.nn.layer.layers import Layer


def functional_call(layer: Layer, state: dict[str, Any], args: Any = (), kwargs: Any = None) -> Tensor:
    """Calls a layer with other Tensors in place of its parameters and buffers.

    Args:
        layer: Layer.
        state: dict from names, as in `state_dict`, to Tensors; what is missing stays as it is. A dict without
            gradients of its own to start from is `dict(layer.named_parameters())`, or `layer.state_dict()`
            with the buffers. New values of buffers (running statistics) are written into the given Tensors,
            not into the layer.
        args: tuple of arguments, or a single one. kwargs: dict of keyword arguments.
    Returns:
        What the layer returns. Gradients flow to the given Tensors.
    Raises:
        KeyError: the layer has no such name.
        ValueError: a shape differs.
    Example:
        >>> net = paddle.nn.Linear(2, 1)
        >>> state = {name: paddle.ones_like(p) for name, p in net.named_parameters()}
        >>> paddle.func.functional_call(net, state, paddle.ones([1, 2])).tolist()
        [[3.0]]
    """
    if not isinstance(args, tuple):
        args = (args,)
    with _replaced(layer, state):
        return layer(*args, **(kwargs or {}))


@contextlib.contextmanager
def _replaced(layer: Layer, state: dict[str, Any]) -> Iterator[None]:
    # The same parameter may be in several layers.
    homes = {}  # id of a Tensor -> the places it is kept at: a shared one is replaced everywhere
    named = {}
    for prefix, part in layer.named_sublayers(include_self=True):
        for store in (part._parameters, part._buffers):
            for name, tensor in store.items():
                if tensor is not None:
                    homes.setdefault(id(tensor), []).append((store, name, tensor))
                    # The layer itself has an empty prefix.
                    named[f"{prefix}.{name}".removeprefix(".")] = tensor
    swapped = []
    try:
        for name, new in state.items():
            old = named.get(name)
            if old is None:
                raise KeyError(
                    f"functional_call: state: the layer has no parameter or buffer {name!r}; "
                    f"it has {sorted(named)}"
                )
            if not isinstance(new, Tensor) or list(new.shape) != list(old.shape):
                got = f"shape {list(new.shape)}" if isinstance(new, Tensor) else type(new).__name__
                raise ValueError(
                    f"functional_call: state: {name!r}: got {got}; "
                    f"it must be a Tensor of shape {list(old.shape)}"
                )
            for store, key, tensor in homes[id(old)]:
                swapped.append((store, key, tensor))
                store[key] = new
        yield
    finally:
        # Backwards, so that a place which was replaced twice gets its first Tensor.
        for store, key, tensor in reversed(swapped):
            store[key] = tensor


def stack_states(layers: Any) -> dict[Any, Any]:
    """The states of several layers of the same kind in one dict of stacked Tensors, for `vmap`
    over an ensemble.

    Args:
        layers: list of layers with parameters and buffers of the same names and shapes.
    Returns:
        Dict from names to Tensors [len(layers), ...]. Gradients flow to the layers.
    Raises:
        ValueError: the list is empty or names differ.
    Example:
        >>> nets = [paddle.nn.Linear(2, 1) for _ in range(3)]
        >>> ensemble = paddle.func.vmap(lambda state, x: paddle.func.functional_call(nets[0], state, x),
        ...                             in_axes=(0, None))
        >>> ensemble(paddle.func.stack_states(nets), paddle.ones([5, 2])).shape
        paddle.Size([3, 5, 1])
    """
    states = [dict([*layer.named_parameters(), *layer.named_buffers()]) for layer in layers]
    if not states or any(state.keys() != states[0].keys() for state in states):
        raise ValueError(
            "stack_states: layers: got layers with different names of parameters; "
            "they must be at least one, and of the same kind"
        )
    return {name: stack([state[name] for state in states]) for name in states[0]}
