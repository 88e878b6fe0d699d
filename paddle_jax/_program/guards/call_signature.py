"""The signature of a call: what of its arguments a compiled program is made for."""

from __future__ import annotations

import copy
import dataclasses
import functools as ft
import types
from typing import Any

import jax
import numpy as np

from paddle_jax._core.base.caller_info import is_users
from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.execution.python_state import IdentityKey, members, same_objects
from paddle_jax._core.tensors.held_values import held_value, numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.input_spec import InputSpec
from paddle_jax.tensor.creation import to_tensor


def call_signature(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Tensor], tuple[Any, ...]]:
    """(Tensors among the arguments, a hashable description of the arguments: how many are given by position,
    those, those by name, and which Tensors are one)."""
    tensors: list[Tensor] = []
    key: list[Any] = [len(args)]
    shared: tuple[int, ...] = ()
    for arg in args:
        key.append(_leaf(arg, tensors))
    for name in kwargs:
        key.append((name, _leaf(kwargs[name], tensors)))
    if len(tensors) > 1:
        # One Tensor given twice is one operand: the compiled program must see that both change together.
        ids = list(map(id, tensors))
        if len(set(ids)) != len(ids):
            shared = tuple(map(ids.index, ids))
            tensors = list(dict(zip(ids, tensors, strict=True)).values())
    key.append(shared)
    return tensors, tuple(key)


def _parted(key: Any) -> tuple[list[Any], list[Any]]:
    """The arguments by position and those by name of a description."""
    count, *leaves, _ = key
    return leaves[:count], leaves[count:]


def _sparse_components(tensor: Any) -> tuple[list[Tensor], tuple[Any, ...]]:
    # Values and indices of a sparse Tensor are Tensors of their own, and its parts are what a program
    # computes with.
    """(Tensors that a sparse Tensor is made of, what else it is made of)."""
    return tensor.components()


def dense_parts(tensor: Tensor) -> list[Tensor]:
    """The Tensor itself, or those that a sparse one is made of."""
    if tensor.is_sparse():
        return _sparse_components(tensor)[0]
    return [tensor]


def _leaf(value: Any, tensors: list[Tensor]) -> Any:
    if isinstance(value, Tensor):
        if value.is_sparse():
            parts, settings = _sparse_components(value)
            return type(value), settings, *[_leaf(part, tensors) for part in parts]
        tensors.append(value)
        raw = held_value(value)
        # `stop_gradient` decides what is on the tape, so it belongs to the form.
        return "t", raw.shape, raw.dtype, value.stop_gradient
    if isinstance(value, list | tuple):
        return type(value), *[_leaf(v, tensors) for v in value]
    if isinstance(value, dict):
        return dict, *[(k, _leaf(v, tensors)) for k, v in value.items()]
    # An array is an operand like a Tensor; as a constant each one would need a program of its own.
    if isinstance(value, np.ndarray | jax.Array):
        tensor = to_tensor(value)
        tensors.append(tensor)
        return "t", plain_shape(tensor), numpy_dtype(tensor), True
    return value_key(value)


def value_key(value: Any) -> tuple[Any, ...]:
    """What stands in a key for a value that is no Tensor: equal for values that are alike to code that reads
    them."""
    # What cannot be hashed, such as an object of a class with `__eq__` alone, is known by its identity.
    try:
        hash(value)
    except TypeError:
        return type(value), IdentityKey(value)
    if isinstance(value, float):
        # The text tells 0.0 from -0.0, which are equal, and finds NaN again, which is not equal to itself.
        return float, value, str(value)
    return type(value), value if _tells_apart(type(value)) else IdentityKey(value)


@ft.cache
def _tells_apart(kind: Any) -> bool:
    """Whether objects of a class that are equal are alike. What an `__eq__` of the user's leaves
    out is not known."""
    # Classes of C and of libraries compare all that they hold; of the user's only generated ones are known
    # to.
    compare = kind.__eq__
    if not isinstance(compare, types.FunctionType) or not is_users(compare.__module__ or ""):
        return True
    # A generated `__eq__` compares all fields, but those that the class leaves out.
    return (
        dataclasses.is_dataclass(kind)
        and compare.__code__.co_filename == "<string>"
        and all(f.compare for f in dataclasses.fields(kind))
    )


def signature_structure(key: Any) -> Any:
    """A description of arguments, or a part of one, without what changes from call to call: lengths of axes
    and numbers."""
    if not isinstance(key, tuple):
        return key
    if len(key) == 4 and key[0] == "t":
        kind, shape, dtype, stop_gradient = key
        return kind, len(shape), dtype, stop_gradient
    if key and key[0] in (int, float):
        # Numbers may differ from call to call, such as a learning rate. Forms that differ in these alone
        # are alike.
        return key[0]
    return tuple([signature_structure(part) for part in key])


def specs_of_signature(key: Any) -> tuple[list[Any], dict[str, Any]]:
    """(positional arguments, keyword arguments) from their description, with an InputSpec for each Tensor.

    Raises:
        ValueError: one was an object of which nothing but its identity is known.
    """
    positional, named = _parted(key)
    return list(map(_described, positional)), {name: _described(leaf) for name, leaf in named}


def _described(leaf: Any) -> Any:
    kind, *rest = leaf
    if kind == "t":
        shape, dtype, stop_gradient = rest
        return InputSpec(shape, dtype, None, stop_gradient)
    if kind is dict:
        return {key: _described(value) for key, value in rest}
    if issubclass(kind, list | tuple):
        return make_sequence(kind, [_described(value) for value in rest])
    # An IdentityKey stands there.
    if type(rest[0]) is not kind:
        raise ValueError(
            f"jit.save: input_spec: the last call had a {kind.__name__} that is no plain value; "
            "give a list of paddle.static.InputSpec"
        )
    return rest[0]


def signature_texts(key: Any) -> list[str]:
    """The arguments of a description in words, such as `float32[2, 3]` and `training=True`."""
    positional, named = _parted(key)
    return [*map(_leaf_text, positional), *[f"{name}={_leaf_text(leaf)}" for name, leaf in named]]


def _leaf_text(leaf: Any) -> str:
    kind, *rest = leaf
    if kind == "t":
        return f"{rest[1]}{list(rest[0])}"
    if kind is dict:
        return "{" + ", ".join(f"{key!r}: {_leaf_text(value)}" for key, value in rest) + "}"
    if issubclass(kind, list | tuple):
        return f"{kind.__name__}({', '.join(map(_leaf_text, rest))})"
    if kind in (bool, int, float, str, type(None)):
        return repr(rest[0])
    return kind.__name__


def describe_differences(old: Any, new: Any) -> list[str]:
    """In words, what differs between two descriptions of arguments."""
    before, now = [
        {**dict(enumerate(positional)), **dict(named)} for positional, named in map(_parted, (old, new))
    ]
    # With another number of arguments there is nothing to compare one by one.
    if len(before) != len(now):
        return ["the number of arguments is another one"]
    texts = []
    for key, leaf in now.items():
        name, way = (key, "by") if isinstance(key, str) else (f"argument {key}", "without")
        texts += (
            [f"{name}{what}" for what in _of_one(before[key], leaf)]
            if key in before
            else [f"{name} is given {way} its name"]
        )
    return texts or ["the order of the arguments, or which of them are one Tensor, is another one"]


def _of_one(a: Any, b: Any) -> Any:
    if a == b:
        return []
    if a[:1] != b[:1]:
        # A Tensor before, a number now.
        return [" is of another kind"]
    if b[0] == "t":
        if len(a[1]) != len(b[1]):
            return [f" has the shape {list(b[1])}, before {list(a[1])}"]
        spec = [m if m == n else None for m, n in zip(a[1], b[1], strict=True)]
        axes = [
            f": axis {axis} is {n}, before {m} (InputSpec({spec}))"
            for axis, (m, n) in enumerate(zip(a[1], b[1], strict=True))
            if m != n
        ]
        return (
            axes
            + ([f" is {b[2]}, before {a[2]}"] if a[2] != b[2] else [])
            + ([f" has stop_gradient={b[3]}"] if a[3] != b[3] else [])
        )
    if b[0] in (list, tuple, dict) and len(a) == len(b):
        pairs = zip(a[1:], b[1:], strict=True)
        return [what for x, y in pairs for what in (_of_one(x[1], y[1]) if b[0] is dict else _of_one(x, y))]
    return [
        f" is {b[1]!r}, before {a[1]!r}"
        if len(b) > 1 and b[0] in (bool, int, float, str)
        else " is another object or value"
    ]


def tensors_of_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments with Tensors in place of arrays; the Tensors among them, each once; what else is among
    them; lists and dicts."""
    by_id = {}
    others = []
    containers = []

    def convert(value: Any) -> Any:
        if isinstance(value, Tensor):
            by_id.update((id(part), part) for part in dense_parts(value))
            return value
        if isinstance(value, np.ndarray | jax.Array):
            tensor = to_tensor(value)
            by_id[id(tensor)] = tensor
            return tensor
        if isinstance(value, tuple):
            items = [convert(v) for v in value]
            # Without a conversion the caller's own tuple is handed on, so that `is` still holds in the
            # code.
            if same_objects(value, items):
                return value
            return make_sequence(type(value), items)
        if isinstance(value, list | dict):
            changed = [(key, new) for key, old in members(value) if (new := convert(old)) is not old]
            if changed:
                # The caller's list must not get Tensors in place of its arrays.
                value = copy.copy(value)
            for key, new in changed:
                value[key] = new
            containers.append(value)
            return value
        others.append(value)
        return value

    args = tuple(map(convert, args))
    kwargs = {k: convert(v) for k, v in kwargs.items()}
    return args, kwargs, list(by_id.values()), others, containers
