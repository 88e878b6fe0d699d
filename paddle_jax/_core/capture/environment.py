"""What code can reach of Python's state: variables of functions, containers, plain objects, and the
Tensors in them."""

import collections
import dis
import functools as ft
import math
import operator
import types

import numpy as np

from paddle_jax._core.tensor import Tensor

MISSING = object()  # stands for what is not there
SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None)})
CONTAINERS = (list, dict, set, collections.deque)  # that can change
_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")


def equal(a, b) -> bool:
    """Whether two values are as good as the same: one object, or equal numbers or texts of one type."""
    return a is b or type(a) is type(b) and type(a) in SCALARS and (a == b or a != a and b != b)


class Same:
    """An object as part of a key: equal to itself alone, which it keeps alive."""

    __slots__ = ("it",)

    def __init__(self, it):
        self.it = it

    def __eq__(self, other):
        return type(other) is Same and other.it is self.it

    def __hash__(self):
        return id(self.it)


def same(a, b):
    """Whether two values are the same to code that reads them: the same object, equal numbers and
    texts, tuples of such."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is float:  # before SCALARS, which has it
        return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)
    if kind in SCALARS:
        return a == b
    if kind is tuple or kind is list:
        return len(a) == len(b) and all(map(same, a, b))
    if kind is dict:
        return a.keys() == b.keys() and all([same(value, b[key]) for key, value in a.items()])
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


def content_of(cell):
    """What a variable of an enclosing function holds; MISSING before it is set."""
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return MISSING


@ft.lru_cache(maxsize=4096)
def globals_named(code, by=_GLOBAL) -> tuple:
    """The names of the global variables that a code object reads or assigns, with those of the functions
    inside it. by: names of instructions."""
    names = [i.argval for i in dis.get_instructions(code) if i.opname in by]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += globals_named(constant, by)
    return tuple(dict.fromkeys(names))


def variables_of(function):
    """(cell or dict, name, value) of the variables outside a function that its code names; MISSING for one
    that has no value yet."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield cell, name, content_of(cell)
    scope = function.__globals__
    assigned = globals_named(function.__code__, ("STORE_GLOBAL",))
    for name in globals_named(function.__code__):
        if name in scope or name in assigned:
            yield scope, name, scope.get(name, MISSING)


# containers and objects -------------------------------------------------------------------------------------


def stores_of(thing):
    """The containers with what an object holds: of a Layer, where its attributes may be; of a
    container itself."""
    if isinstance(thing, CONTAINERS):
        return [thing]
    own = thing.__dict__ if hasattr(thing, "__dict__") else {}
    return [own, own["_parameters"], own["_sub_layers"], own["_buffers"]] if "_parameters" in own else [own]


def content(thing):
    """A copy of what a container or a plain object holds."""
    if isinstance(thing, list | collections.deque):
        return list(thing)
    return (set(thing) if isinstance(thing, set)
            else dict(thing if isinstance(thing, dict) else thing.__dict__))


def differs(thing, before) -> bool:
    """Whether a container or object holds anything else than in a copy of its content."""
    if isinstance(thing, set):
        return thing != before
    now = thing if isinstance(thing, CONTAINERS) else thing.__dict__
    if len(now) != len(before):
        return True
    if isinstance(before, dict):
        return not all(equal(now.get(key, MISSING), value) for key, value in before.items())
    return not all(map(equal, now, before))


def put_content(thing, before):
    """Gives a container or object the content that it had, if it differs."""
    if differs(thing, before):
        store = thing if isinstance(thing, CONTAINERS) else thing.__dict__
        store.clear()
        (store.update if isinstance(before, dict | set) else store.extend)(before)


def _with(before, now, keys):
    """A copy of a content with what is now at some of its keys or places."""
    present = [key for key in keys if (key in now if isinstance(now, dict) else key < len(now))]
    for key in present:
        before[key] = now[key]
    return before


class Snapshot:
    """Containers, objects and variables with what they held, to put it back.

    held: (container or object, copy of its content, name for a message, keys or places in it that others look
    after). variables: (cell or dict, name, value).
    """

    def __init__(self):
        self.held, self.variables = [], []

    def hold(self, thing, name="", apart=()):
        """Notes what a container or object holds now. apart: keys or places in it that others put back."""
        self.held.append((thing, content(thing), name, apart))

    def restore(self):
        """Puts everything back; the names of what had changed."""
        held = [(thing, _with(before, thing, apart), name) for thing, before, name, apart in self.held]
        changed = [name for thing, before, name in held if differs(thing, before)]
        for thing, before, _ in held:
            put_content(thing, before)
        return changed + self.restore_variables()

    def restore_variables(self):
        """Puts variables back that have been assigned; their names."""
        changed = []
        for place, name, before in self.variables:
            if not equal(place.get(name, MISSING) if isinstance(place, dict) else content_of(place), before):
                changed.append(f"the variable {name!r}")
                if isinstance(place, dict) and before is MISSING:
                    del place[name]
                elif isinstance(place, dict):
                    place[name] = before
                elif before is MISSING:
                    del place.cell_contents
                else:
                    place.cell_contents = before
        return changed


# nested values ----------------------------------------------------------------------------------------------


def tensors_in(value):
    """The Tensors in nested lists, tuples, dicts and slices."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, slice):
        yield from tensors_in((value.start, value.stop, value.step))


def mapped(value, change, kind=Tensor):
    """The same structure with every Tensor (or object of another kind) changed."""
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, slice):
        return slice(*[mapped(v, change, kind) for v in (value.start, value.stop, value.step)])
    if isinstance(value, dict):
        return {k: mapped(v, change, kind) for k, v in value.items()}
    if isinstance(value, list | tuple):
        items = [mapped(v, change, kind) for v in value]
        # a class of its own may be made in another way
        same = type(value) not in (list, tuple) and all(map(operator.is_, items, value))
        return value if same else rebuilt(value, items)
    return value


def rebuilt(sequence, items):
    """A list, tuple or named tuple of the same class with other items."""
    return type(sequence)(*items) if hasattr(sequence, "_fields") else type(sequence)(items)
