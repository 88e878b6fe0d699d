"""Tensors and Layers as JAX pytrees.

JAX sees the arrays in them, so `jax.jit`, `jax.vmap`, `jax.tree.map` and optax take and return them. Tensors
that JAX passes to a function that it traces want gradients, since JAX decides itself what it differentiates.
Tensors that it returns are plain values.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.core

from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.tensors.tensor import Parameter, Tensor, raw_for_trace, wrap


def _flatten_tensor(tensor: Tensor) -> tuple[tuple[Any, ...], None]:
    return (to_array(raw_for_trace(tensor)),), None


def _wants_gradient(child: Any) -> bool:
    return isinstance(child, jax.core.Tracer) and child.dtype.kind in INEXACT


def _unflatten_tensor(_: None, children: Sequence[Any]) -> Tensor:
    return wrap(children[0], not _wants_gradient(children[0]))


def _unflatten_parameter(_: None, children: Sequence[Any]) -> Parameter:
    parameter = Parameter()
    parameter._raw = children[0]
    return parameter


def register_like_tensor(cls: type) -> None:
    """Lets JAX flatten a class of Tensors; it unflattens to plain Tensors."""
    jax.tree_util.register_pytree_node(cls, _flatten_tensor, _unflatten_tensor)


register_like_tensor(Tensor)
jax.tree_util.register_pytree_node(Parameter, _flatten_tensor, _unflatten_parameter)


class _OrderedDict:
    """Stands for a dict whose keys keep their order.

    JAX sorts the keys of a plain dict, and refuses keys that cannot be sorted.
    """

    def __init__(self, items: dict[Any, Any]) -> None:
        self.items = items


jax.tree_util.register_pytree_node(
    _OrderedDict,
    lambda ordered: (tuple(ordered.items.values()), tuple(ordered.items)),
    lambda keys, values: dict(zip(keys, values, strict=True)),  # pyright: ignore[reportArgumentType]
)


def in_order(value: Any) -> Any:
    """A nest of dicts, lists and tuples that `jax.tree.flatten` flattens in the order of its items."""
    if type(value) is dict:
        return _OrderedDict({key: in_order(item) for key, item in value.items()})
    if type(value) in (list, tuple):
        return type(value)(map(in_order, value))
    return value


# layers -----------------------------------------------------------------------------------------------------

_TENSOR_STORES = ("_parameters", "_buffers")
_STORES = (*_TENSOR_STORES, "_sub_layers")
Indices = dict[int, int]  # the index of each Tensor or layer of a tree by its id


class _LayerTree:
    """The Tensors and layers of a tree of layers, each once.

    Attributes:
        layers: list of Layers, a layer before those below it.
        tensors: list of Tensors.
        names: list of str, the name of each Tensor.
        layer_indices: {id of a layer: its index}.
        tensor_indices: {id of a Tensor: its index}.
    """

    def __init__(self, root: Any) -> None:
        self.layers: list[Any] = []
        self.tensors: list[Tensor] = []
        self.names: list[str] = []
        self.layer_indices: Indices = {}
        self.tensor_indices: Indices = {}
        self._visit(root, "")

    def _visit(self, layer: Any, prefix: str) -> None:
        self.layer_indices[id(layer)] = len(self.layers)
        self.layers.append(layer)
        for store in _TENSOR_STORES:
            for name, tensor in layer.__dict__[store].items():
                if tensor is not None and id(tensor) not in self.tensor_indices:
                    self.tensor_indices[id(tensor)] = len(self.tensors)
                    self.tensors.append(tensor)
                    self.names.append(f"{prefix}{name}")
        for name, sublayer in layer._sub_layers.items():
            if sublayer is not None and id(sublayer) not in self.layer_indices:
                self._visit(sublayer, f"{prefix}{name}.")


class _LayerState:
    """One layer of a tree of layers without its Tensors.

    Attributes:
        cls: the class of the layer.
        stores: for each store of the layer a dict {name: index of the Tensor or layer in the tree, or None}.
        settings: dict of all other attributes.
    """

    __slots__ = ("cls", "settings", "stores")

    def __init__(self, layer: Any, tree: _LayerTree) -> None:
        self.cls = type(layer)
        self.stores = []
        for store in _STORES:
            if store in _TENSOR_STORES:
                indices = tree.tensor_indices
            else:
                indices = tree.layer_indices
            items = layer.__dict__[store].items()
            self.stores.append({name: None if item is None else indices[id(item)] for name, item in items})
        attributes = layer.__dict__.items()
        self.settings = {
            name: _with_references(value, tree) for name, value in attributes if name not in _STORES
        }

    def __eq__(self, other: Any) -> bool:
        return (
            self.cls is other.cls
            and self.stores == other.stores
            and _are_equal_settings(self.settings, other.settings)
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]


class _TreeStructure:
    """A tree of layers without its Tensors.

    It is equal for trees of the same classes, names and settings that share the same Tensors.

    Attributes:
        layers: list of _LayerState.
        names: tuple of str, the name of each Tensor.
    """

    __slots__ = ("layers", "names")

    def __init__(self, tree: _LayerTree) -> None:
        self.layers = [_LayerState(layer, tree) for layer in tree.layers]
        self.names = tuple(tree.names)

    def __eq__(self, other: object) -> bool:
        return type(other) is _TreeStructure and self.names == other.names and self.layers == other.layers

    def __hash__(self) -> int:
        return hash((self.names, *[layer.cls for layer in self.layers]))


class _Reference:
    """Stands for a Tensor or layer of the tree in a list or dict that a layer holds.

    Attributes:
        index: int, its index in the tree.
        is_layer: bool, whether it is a layer.
    """

    __slots__ = ("index", "is_layer")

    def __init__(self, index: int, is_layer: bool) -> None:
        self.index = index
        self.is_layer = is_layer

    def __eq__(self, other: object) -> bool:
        return type(other) is _Reference and self.index == other.index and self.is_layer == other.is_layer

    def __hash__(self) -> int:
        return self.index


def _with_references(value: Any, tree: _LayerTree) -> Any:
    """A setting with References in place of the Tensors and layers of the tree."""
    if id(value) in tree.tensor_indices:
        return _Reference(tree.tensor_indices[id(value)], False)
    if id(value) in tree.layer_indices:
        return _Reference(tree.layer_indices[id(value)], True)
    return _map_items(value, lambda item: _with_references(item, tree))


def _map_items(value: Any, function: Callable[[Any], Any]) -> Any:
    """A list, tuple or dict with a function applied to its items; itself where no item changes.

    Other values stay as they are.
    """
    if type(value) in (list, tuple):
        items = [function(item) for item in value]
        unchanged = all(new is old for new, old in zip(items, value, strict=True))
        if unchanged:
            return value
        return type(value)(items)
    if type(value) is dict:
        mapped = {key: function(item) for key, item in value.items()}
        if all(mapped[key] is value[key] for key in value):
            return value
        return mapped
    return value


def _are_equal_settings(one: dict[Any, Any], other: dict[Any, Any]) -> bool:
    """Whether the settings of two layers are equal; what cannot be compared has to be the same object."""
    if one.keys() != other.keys():
        return False
    for name, value in one.items():
        # Layers that are equal otherwise still have different generated names.
        if value is other[name] or name == "_full_name":
            continue
        # Objects of users may refuse to compare, and arrays have no single answer.
        try:
            equal = type(value) is type(other[name]) and bool(value == other[name])
        except Exception:
            equal = False
        if not equal:
            return False
    return True


def register_layer(cls: type) -> None:
    """Makes a Layer class a pytree node whose children are the Tensors of its whole tree, each once."""
    jax.tree_util.register_pytree_with_keys(cls, _flatten_layer_with_keys, _unflatten_layer, _flatten_layer)


def _flatten_layer(layer: Any) -> tuple[list[Tensor], _TreeStructure]:
    tree = _LayerTree(layer)
    return tree.tensors, _TreeStructure(tree)


def _flatten_layer_with_keys(layer: Any) -> tuple[list[tuple[Any, Tensor]], _TreeStructure]:
    tensors, structure = _flatten_layer(layer)
    keys = map(jax.tree_util.DictKey, structure.names)
    return list(zip(keys, tensors, strict=True)), structure


def _unflatten_layer(structure: _TreeStructure, children: Iterable[Any]) -> Any:
    # Without `__init__`, which would draw new parameters; all of them first, as settings refer to them.
    layers = [object.__new__(state.cls) for state in structure.layers]
    tensors = tuple(children)

    def resolve(value: Any) -> Any:
        if type(value) is _Reference:
            if value.is_layer:
                return layers[value.index]
            return tensors[value.index]
        return _map_items(value, resolve)

    for layer, state in zip(layers, structure.layers, strict=True):
        layer.__dict__.update({name: resolve(value) for name, value in state.settings.items()})
        for store, indices in zip(_STORES, state.stores, strict=True):
            items = tensors if store in _TENSOR_STORES else layers
            layer.__dict__[store] = collections.OrderedDict(
                (name, None if index is None else items[index]) for name, index in indices.items()
            )
    return layers[0]
