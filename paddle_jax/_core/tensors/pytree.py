"""Tensors and Layers as JAX pytrees: JAX sees the arrays in them, so `jax.jit`, `jax.vmap`, `jax.tree.map`
and optax take and give them.

What JAX hands to a function it traces wants gradients, since JAX decides itself what it differentiates; what
it hands back is a plain value.
"""

import collections

import jax

from paddle_jax._core.lazy.aval import INEXACT
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.tensors.tensor import Parameter, Tensor, inside, wrap


def _flatten(tensor):
    return (to_array(inside(tensor)),), None


def _wanted(child):
    return isinstance(child, jax.core.Tracer) and child.dtype.kind in INEXACT


def _tensor(_, children):
    return wrap(children[0], not _wanted(children[0]))


def _parameter(_, children):
    made = Parameter()
    made._raw = children[0]
    return made


def register_like_tensor(kind):
    """Lets JAX take a class of Tensors apart; what it puts together is a plain Tensor."""
    jax.tree_util.register_pytree_node(kind, _flatten, _tensor)


register_like_tensor(Tensor)
jax.tree_util.register_pytree_node(Parameter, _flatten, _parameter)


class _Ordered:
    """Stands for a dict whose keys stay in their order: JAX sorts those of a plain one, and refuses what
    cannot be sorted."""

    def __init__(self, items):
        self.items = items


jax.tree_util.register_pytree_node(
    _Ordered,
    lambda kept: (tuple(kept.items.values()), tuple(kept.items)),
    lambda keys, values: dict(zip(keys, values, strict=True)),
)


def in_order(value):
    """A nest of dicts, lists and tuples that `jax.tree.flatten` takes apart, and puts together again, in the
    order of its items."""
    if type(value) is dict:
        return _Ordered({key: in_order(item) for key, item in value.items()})
    return type(value)(map(in_order, value)) if type(value) in (list, tuple) else value


_STORES = ("_parameters", "_buffers", "_sub_layers")


class _Part:
    """One layer of a tree of layers apart from its Tensors: its class, what its stores hold by number, and
    everything else it holds."""

    __slots__ = ("kind", "settings", "stores")

    def __init__(self, layer, tensors, layers):
        self.kind = type(layer)
        numbers = (tensors, tensors, layers)
        self.stores = [
            {name: found if found is None else of[id(found)] for name, found in layer.__dict__[store].items()}
            for store, of in zip(_STORES, numbers, strict=True)
        ]
        self.settings = {
            k: _marked(v, tensors, layers) for k, v in layer.__dict__.items() if k not in _STORES
        }

    def __eq__(self, other):
        return (
            self.kind is other.kind and self.stores == other.stores and _same(self.settings, other.settings)
        )


class _Structure:
    """What a tree of layers is apart from its Tensors. Equal for trees of the same classes, names and
    settings, with the same Tensors shared."""

    __slots__ = ("names", "parts")

    def __init__(self, parts, names):
        self.parts, self.names = parts, names

    def __eq__(self, other):
        return type(other) is _Structure and self.names == other.names and self.parts == other.parts

    def __hash__(self):
        return hash((self.names, *[part.kind for part in self.parts]))


class _Number:
    """Stands for a Tensor or layer of the tree in a list or dict that a layer holds."""

    __slots__ = ("at", "is_layer")

    def __init__(self, at, is_layer):
        self.at, self.is_layer = at, is_layer

    def __eq__(self, other):
        return type(other) is _Number and self.at == other.at and self.is_layer == other.is_layer

    def __hash__(self):
        return self.at


def _marked(value, tensors, layers):
    """A setting with numbers in place of the Tensors and layers of the tree."""
    if id(value) in tensors:
        return _Number(tensors[id(value)], False)
    if id(value) in layers:
        return _Number(layers[id(value)], True)
    return _mapped(value, lambda v: _marked(v, tensors, layers))


def _mapped(value, change):
    """A list, tuple or dict with its elements changed, itself where none is; other values as they are."""
    if type(value) in (list, tuple):
        changed = [change(v) for v in value]
        return value if all(a is b for a, b in zip(changed, value, strict=True)) else type(value)(changed)
    if type(value) is dict:
        changed = {k: change(v) for k, v in value.items()}
        return value if all(changed[k] is value[k] for k in value) else changed
    return value


def _same(one, other):
    """Whether the settings of two layers are the same; what cannot be compared is, if it is
    the same object."""
    if one.keys() != other.keys():
        return False
    for k, v in one.items():
        w = other[k]
        if v is w or k == "_full_name":
            continue
        try:
            equal = type(v) is type(w) and bool(v == w)
        except Exception:
            equal = False
        if not equal:
            return False
    return True


def register_layer(cls):
    """Makes a Layer class a pytree node whose children are the Tensors of the whole tree
    below it, each once."""
    jax.tree_util.register_pytree_with_keys(cls, _layer_with_keys, _layer, _flatten_layer)


def _flatten_layer(layer):
    found, tensors, layers, names, children = [], {}, {}, [], []

    def visit(part, prefix):
        layers[id(part)] = len(found)
        found.append(part)
        for store in _STORES[:2]:
            for name, tensor in part.__dict__[store].items():
                if tensor is not None and id(tensor) not in tensors:
                    tensors[id(tensor)] = len(children)
                    children.append(tensor)
                    names.append(f"{prefix}{name}")
        for name, below in part._sub_layers.items():
            if below is not None and id(below) not in layers:
                visit(below, f"{prefix}{name}.")

    visit(layer, "")
    return children, _Structure([_Part(part, tensors, layers) for part in found], tuple(names))


def _layer_with_keys(layer):
    children, structure = _flatten_layer(layer)
    return [
        (jax.tree_util.DictKey(name), child) for name, child in zip(structure.names, children, strict=True)
    ], structure


def _layer(structure, children):
    layers = [object.__new__(part.kind) for part in structure.parts]
    children = tuple(children)

    def change(value):
        return (
            (layers if value.is_layer else children)[value.at]
            if type(value) is _Number
            else _mapped(value, change)
        )

    for layer, part in zip(layers, structure.parts, strict=True):
        layer.__dict__.update({k: change(v) for k, v in part.settings.items()})
        for store, held, of in zip(_STORES, part.stores, (children, children, layers), strict=True):
            layer.__dict__[store] = collections.OrderedDict(
                (name, at if at is None else of[at]) for name, at in held.items()
            )
    return layers[0]
