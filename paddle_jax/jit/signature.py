"""The signature of a call: what of its arguments a compiled program is made for."""

import copy

import jax
import numpy as np

from paddle_jax._core.tensor import Tensor
from paddle_jax.tensor.creation import to_tensor


def signature(args, kwargs):
    """(Tensors among the arguments, a hashable description of the arguments)."""
    tensors, key = [], []
    for arg in args:
        key.append(_leaf(arg, tensors))
    for name in kwargs:
        key.append((name, _leaf(kwargs[name], tensors)))
    if len(tensors) > 1:
        ids = list(map(id, tensors))
        if len(set(ids)) != len(ids):
            key.append(tuple(map(ids.index, ids)))
            tensors = list(dict(zip(ids, tensors, strict=True)).values())
    return tensors, tuple(key)


def _leaf(value, tensors):
    if isinstance(value, Tensor):
        tensors.append(value)
        raw = value._raw
        return "t", raw.shape, raw.dtype, value.stop_gradient
    if isinstance(value, list | tuple):
        return type(value), *[_leaf(v, tensors) for v in value]
    if isinstance(value, dict):
        return dict, *[(k, _leaf(v, tensors)) for k, v in value.items()]
    if isinstance(value, np.ndarray | jax.Array):
        made = to_tensor(value)
        tensors.append(made)
        return "t", made._raw.shape, made._raw.dtype, True
    try:
        hash(value)
    except TypeError:
        return type(value), id(value)
    if isinstance(value, float):
        return float, value, str(value)
    return type(value), value


def leaves_of(key):
    """The descriptions of Tensors in a signature."""
    if isinstance(key, tuple):
        if len(key) == 4 and isinstance(key[0], str) and key[0] == "t":
            yield key
        else:
            for part in key:
                yield from leaves_of(part)


def as_tensors(args, kwargs):
    """The arguments with Tensors in the place of arrays; the Tensors among them, each once; what else is among them; lists and dicts."""
    found, others, containers = {}, [], []

    def convert(value):
        if isinstance(value, Tensor):
            found[id(value)] = value
            return value
        if isinstance(value, np.ndarray | jax.Array):
            made = to_tensor(value)
            found[id(made)] = made
            return made
        if isinstance(value, tuple):
            return _rebuilt(value, [convert(v) for v in value])
        if isinstance(value, list | dict):
            keys, items = (None, value) if isinstance(value, list) else (list(value), value.values())
            old, new = list(items), [convert(v) for v in items]
            if any(a is not b for a, b in zip(old, new, strict=True)):
                value = copy.copy(value)
                if keys is None:
                    value[:] = new
                else:
                    value.update(zip(keys, new, strict=True))
            containers.append(value)
            return value
        others.append(value)
        return value

    args, kwargs = tuple(map(convert, args)), {k: convert(v) for k, v in kwargs.items()}
    return args, kwargs, list(found.values()), others, containers


def _rebuilt(value, items):
    if all(a is b for a, b in zip(value, items, strict=True)):
        return value
    return tuple(items) if type(value) is tuple else type(value)(*items) if hasattr(value, "_fields") else value
