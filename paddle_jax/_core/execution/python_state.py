"""What code can reach of Python's state: variables of functions, containers, plain objects, and the
Tensors in them."""

from __future__ import annotations

import collections
import dis
import functools as ft
import math
import operator
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from paddle_jax._core.base.sequences import make_sequence
from paddle_jax._core.tensors.tensor import Tensor

MISSING = object()  # stands for what is not there
SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None)})
CONTAINERS = (list, dict, set, collections.deque)  # that can change
LAYER_STORES = ("_parameters", "_sub_layers", "_buffers")  # attributes of a Layer with its other attributes
_OF_LAYERS = frozenset(LAYER_STORES)
_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")


def same_object_or_scalar(a: Any, b: Any) -> bool:
    """Whether two values are as good as the same: one object, or equal numbers or texts of one type."""
    return a is b or type(a) in SCALARS and same_value(a, b)


def same_objects(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether two sequences hold the same objects."""
    return len(a) == len(b) and all(map(operator.is_, a, b))


class IdentityKey:
    """An object as part of a key: equal to itself alone, which it keeps alive.

    Attributes:
        value: the object.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is IdentityKey and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def same_value(a: Any, b: Any) -> bool:
    """Whether two values are the same to code that reads them: the same object, equal numbers and
    texts, tuples of such."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is float:  # before SCALARS, which has it
        return _same_float(a, b)
    if kind in SCALARS:
        return a == b or a != a and b != b  # the second half is about NaN in complex numbers
    if kind is tuple or kind is list:
        return len(a) == len(b) and all(map(same_value, a, b))
    if kind is dict:
        return a.keys() == b.keys() and all([same_value(value, b[key]) for key, value in a.items()])
    return _same_bound_or_numpy_value(kind, a, b)


def _same_float(a: float, b: float) -> bool:
    """Whether two floats are the same to code: zeros have a sign, and NaN is the same as NaN."""
    if a == b:
        return math.copysign(1, a) == math.copysign(1, b)
    return a != a and b != b


def _same_bound_or_numpy_value(kind: type, a: Any, b: Any) -> bool:
    """`same_value` for the rarer types: a bound method or a NumPy scalar is a new object at each read."""
    if kind is frozenset:
        return a == b
    if kind is types.MethodType:
        return a.__func__ is b.__func__ and a.__self__ is b.__self__
    if kind in (types.BuiltinMethodType, types.MethodWrapperType):
        return a.__self__ is b.__self__ and a == b
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    return False


# variables --------------------------------------------------------------------------------------------------


def cell_content(cell: types.CellType) -> Any:
    """What a variable of an enclosing function holds; MISSING before it is set."""
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return MISSING


@ft.lru_cache(maxsize=4096)
def named_globals(code: types.CodeType, by: tuple[str, ...] = _GLOBAL) -> tuple[Any, ...]:
    """The names of the global variables that a code object reads or assigns, with those of the functions
    inside it. by: names of instructions."""
    names = [i.argval for i in dis.get_instructions(code) if i.opname in by]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += named_globals(constant, by)
    return tuple(dict.fromkeys(names))


def variables_of(function: types.FunctionType) -> Iterator[tuple[Any, str, Any]]:
    """(cell or dict, name, value) of the variables outside a function that its code names; MISSING for one
    that has no value yet."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield cell, name, cell_content(cell)
    scope = function.__globals__
    assigned = named_globals(function.__code__, ("STORE_GLOBAL",))
    for name in named_globals(function.__code__):
        if name in scope or name in assigned:
            yield scope, name, scope.get(name, MISSING)


# containers and objects -------------------------------------------------------------------------------------


class RowsOrItems(list):
    """A list whose items may be the rows of one Tensor.

    Attributes:
        rows: Tensor whose first axis counts the items, or None while it is a list as any other.
        may_lack_lengths: bool, whether the rows of an empty list have other lengths than its items will have.
    """

    rows: Tensor | None = None
    may_lack_lengths = False


def _items_of(container: Any) -> Any:
    """The items of a list, by no method of a class of its own; other containers themselves."""
    if isinstance(container, list):
        return list.copy(container)
    return container


def stores_of(owner: Any) -> list[Any]:
    """The containers with what an object holds: of a Layer, where its attributes may be; of a
    container itself."""
    if isinstance(owner, CONTAINERS):
        return [owner]
    own = getattr(owner, "__dict__", {})
    if own.keys() >= _OF_LAYERS:
        return [own, *[own[name] for name in LAYER_STORES]]
    return [own]


def members(container: Any) -> list[tuple[Any, Any]]:
    """[(key or place, value)] of what a container or a tuple holds now."""
    if isinstance(container, dict):
        return list(container.items())
    return list(enumerate(_items_of(container)))


def copy_contents(owner: Any) -> list[Any]:
    """Copies of what a container or an object holds, one for each of its stores."""
    return list(map(_copied, stores_of(owner)))


def restore_contents(owner: Any, before: list[Any]) -> None:
    """Gives a container or an object the contents that it had."""
    for store, content in zip(stores_of(owner), before, strict=True):
        _put(store, content)


def _copied(store: Any) -> Any:
    """A copy of a container's content: a dict, a set, or a list for a list or deque."""
    if isinstance(store, dict):
        return dict(store)
    if isinstance(store, set):
        return set(store)
    if isinstance(store, RowsOrItems):
        return store.copy()
    return list(store)


def content_differs(store: Any, before: Any) -> bool:
    """Whether a container holds anything else than a copy of its content does."""
    if getattr(store, "rows", None) is not getattr(before, "rows", None):
        return True
    store = _items_of(store)
    before = _items_of(before)
    if isinstance(store, set):
        return store != before
    if len(store) != len(before):
        return True
    if isinstance(store, dict):
        return not all(same_object_or_scalar(store.get(key, MISSING), value) for key, value in before.items())
    return not all(map(same_object_or_scalar, store, before))


def _put(store: Any, before: Any) -> bool:
    """Gives a container the content that it had. Returns whether it held anything else."""
    changed = content_differs(store, before)
    if changed and isinstance(store, RowsOrItems):
        list.clear(store)
        list.extend(store, _items_of(before))
        store.rows = getattr(before, "rows", None)
        store.may_lack_lengths = getattr(before, "may_lack_lengths", False)
    elif changed:
        store.clear()
        if isinstance(before, list):
            store.extend(before)
        else:
            store.update(before)
    return changed


class Snapshot:
    """Containers and variables with what they held, to put it back.

    Attributes:
        held: list of (container, copy of its content, name for a message, keys or indices that others put
            back).
        variables: list of (cell or dict, name, value).
    """

    def __init__(self) -> None:
        self.held: list[tuple[Any, Any, str, Iterable[Any]]] = []
        self.variables: list[tuple[Any, str, Any]] = []

    def hold(self, store: Any, name: str = "", apart: Iterable[Any] = ()) -> None:
        """Notes what a container holds now. apart: keys or places in it that others put back."""
        self.held.append((store, _copied(store), name, apart))

    def restore(self) -> list[str]:
        """Puts everything back; the names of what had changed."""
        changed = []
        for store, before, name, apart in self.held:
            for key in apart:
                is_there = key in store if isinstance(store, dict) else key < len(store)
                if is_there:
                    before[key] = store[key]
            if _put(store, before):
                changed.append(name)
        return changed + self.restore_variables()

    def restore_variables(self) -> list[str]:
        """Puts variables back that have been assigned; their names."""
        changed = []
        for scope, name, before in self.variables:
            now = scope.get(name, MISSING) if isinstance(scope, dict) else cell_content(scope)
            if not same_object_or_scalar(now, before):
                changed.append(f"the variable {name!r}")
                _restore_variable(scope, name, before)
        return changed


def _restore_variable(scope: Any, name: str, before: Any) -> None:
    """Gives a variable its value back.

    Args:
        scope: the dict of a module, or the cell of an enclosing function.
        name: of the variable.
        before: the value, MISSING where it had none.
    """
    if isinstance(scope, dict):
        if before is MISSING:
            del scope[name]
        else:
            scope[name] = before
    elif before is MISSING:
        del scope.cell_contents
    else:
        scope.cell_contents = before


# nested values ----------------------------------------------------------------------------------------------


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The Tensors in nested lists, tuples, dicts and slices."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple | dict):
        for _, part in members(value):
            yield from tensors_in(part)
    elif isinstance(value, slice):
        yield from tensors_in((value.start, value.stop, value.step))


def map_tensors(value: Any, change: Callable[[Any], Any], kind: Any = Tensor) -> Any:
    """The same structure with every Tensor (or object of another kind) changed."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, slice):
        return slice(*[map_tensors(v, change, kind) for v in (value.start, value.stop, value.step)])
    if isinstance(value, dict):
        return {k: map_tensors(v, change, kind) for k, v in value.items()}
    if isinstance(value, list | tuple):
        items = [map_tensors(v, change, kind) for v in value]
        plain = type(value) in (list, tuple)
        # a class of its own may be made in another way
        if not plain and same_objects(items, value):
            return value
        return make_sequence(type(value), items)
    return value
