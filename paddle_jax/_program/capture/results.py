"""What a captured run gives back or assigns, taken apart so that each call makes it anew: nests of
containers, and objects that the run has made, with the Tensors in them."""

import collections
import functools as ft
import io
import threading
import types

import jax
import numpy as np

from paddle_jax._core.base.caller_info import is_users
from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.state import Observing
from paddle_jax._core.execution.python_state import SCALARS, cell_content
from paddle_jax._core.tensors.tensor import Tensor

_MOST = 10_000  # things that are looked through for Tensors of the run
_FIXED = (type, types.ModuleType, np.generic, *SCALARS)
_ITEMS = (list, tuple, set, frozenset, collections.deque, collections.abc.MappingView)


@jax.tree_util.register_pytree_node_class
class Rebuilt:
    """Stands for something that `make(parts)` makes anew."""

    def __init__(self, parts, make):
        self.parts, self.make = parts, make

    def tree_flatten(self):
        return self.parts, self.make

    @classmethod
    def tree_unflatten(cls, make, parts):
        return make(list(parts))


def open_result(value, run, numbers=()):
    """A nest that `jax.tree.flatten` takes apart, and that `jax.tree.unflatten` makes a new value of.
    numbers: ids of Tensors that stand for Python's numbers, and become such.

    Raises:
        Unsupported: it holds Tensors of the run in a way that cannot be done again.
    """
    return _Opening(run, numbers).of(value)


class _Opening:
    """numbers: see `opened`. met: ids of what is on the way. again: how often an object is met after the
    first time, by id; shared: objects that are made anew and wait to be put where they are met again, of
    each thread."""

    def __init__(self, run, numbers):
        self.numbers, self.run, self.met, self.again, self.shared = numbers, run, set(), {}, threading.local()
        observer = Observing.observer
        self.created, self.outer = (
            ({}, {}) if observer is None else (observer.created, observer.outer_containers)
        )

    def of(self, value):
        kind = type(value)
        if isinstance(value, (Tensor, *_FIXED)):
            return Rebuilt((value,), lambda parts: parts[0].item()) if id(value) in self.numbers else value
        if id(value) in self.outer and id(value) not in self.created:
            return Rebuilt((), lambda parts: value)  # a container from outside stays the same object
        if kind is list or kind is tuple:
            return self.once(value, lambda: kind(map(self.of, value)))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return self.once(value, lambda: Rebuilt(self.all(value), lambda parts: kind(*parts)))
        if kind in (dict, collections.OrderedDict, collections.defaultdict):
            return self.once(value, lambda: self.mapping(value, kind))
        if kind is np.ndarray:
            return Rebuilt((), lambda parts: value.copy())
        if kind in (set, collections.deque):
            limit = (value.maxlen,) if kind is collections.deque else ()
            return self.once(value, lambda: Rebuilt(self.all(value), lambda parts: kind(parts, *limit)))
        return self.thing(value, kind)

    def all(self, values):
        return tuple(map(self.of, values))

    def once(self, value, opening):
        """What `opening` gives; refuses what holds itself."""
        if id(value) in self.met:
            raise Unsupported(f"a {type(value).__name__} that holds itself is given back; leave it out")
        self.met.add(id(value))
        result = opening()
        self.met.discard(id(value))
        return result

    def mapping(self, value, kind):
        keys, start = list(value), (value.default_factory,) if kind is collections.defaultdict else ()

        def make(parts):
            return kind(*start, zip(keys, parts, strict=True))

        return Rebuilt(self.all(value.values()), make)

    def thing(self, value, kind):
        """An object that is no plain container."""
        run, is_layer = self.run, "_sub_layers" in getattr(value, "__dict__", ())
        if isinstance(value, collections.abc.Iterator | io.IOBase):
            raise Unsupported(
                f"a {kind.__name__} is given back, which is used up after one call; return a list"
            )
        mine = id(value) in self.created
        if id(value) in run.contents or id(value) in run.attributes or is_layer and not mine:
            return Rebuilt((), lambda parts: value)  # what it holds is looked after
        if is_layer:
            return value
        if mine and _is_plain(kind):
            if id(value) in self.again:
                return self.met_again(value)
            self.again[id(value)] = 0
            return self.once(value, lambda: self.remade(value, kind))
        if reaches_run_tensor(value, run):
            raise Unsupported(
                f"a {kind.__name__} that holds a tensor of the run is given back; return the tensor itself"
            )
        return Rebuilt((), lambda parts: value)

    def met_again(self, value):
        """An object that is held in several places, and is made anew once."""
        if id(value) in self.met:
            self.once(value, None)  # refuses it
        self.again[id(value)] += 1
        key = id(value)

        def take(parts):
            waiting = self.shared.__dict__
            new, left = waiting.pop(key)
            if left > 1:
                waiting[key] = new, left - 1
            return new

        return Rebuilt((), take)

    def remade(self, value, kind):
        """An object with its attributes and, of a container of its own class, its items."""
        own, slots = getattr(value, "__dict__", {}), _slots(value)
        keys = list(dict.keys(value)) if isinstance(value, dict) else None
        items = list(dict.values(value) if keys is not None else value if isinstance(value, list) else ())
        names, n, key = [*own], len(own), id(value)

        def make(parts):
            new = kind.__new__(kind)
            if hasattr(new, "__dict__"):
                new.__dict__.update(zip(names, parts, strict=False))
            for name, part in zip(slots, parts[n:], strict=False):
                object.__setattr__(new, name, part)
            rest = parts[n + len(slots) :]
            if keys is not None:
                for name, part in zip(keys, rest, strict=True):
                    base.__setitem__(new, name, part)
            elif rest:
                list.extend(new, rest)
            if self.again[key]:
                self.shared.__dict__[key] = new, self.again[key]
            return new

        base = collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict
        return Rebuilt(self.all((*own.values(), *slots.values(), *items)), make)


@ft.cache
def _is_plain(kind):
    """Whether objects of a class are their attributes and items, and nothing else."""
    bases = (object, list, dict, collections.OrderedDict)
    known = [
        c in bases or c.__module__ in ("typing", "abc", "collections.abc") or is_users(c.__module__ or "")
        for c in kind.__mro__
    ]
    return all(known) and kind.__new__ in [base.__new__ for base in bases]


def _slots(value):
    """{name: value} of the slots of an object that are set."""
    names = [
        name
        for cls in type(value).__mro__
        for name, member in vars(cls).items()
        if isinstance(member, types.MemberDescriptorType)
    ]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def reaches_run_tensor(value, run):
    """Whether a Tensor that the run has made can be reached from a thing; True where that is too much to look
    through."""
    todo, seen = [value], set()
    while todo:
        thing = todo.pop()
        if id(thing) in seen or isinstance(thing, _FIXED):
            continue
        seen.add(id(thing))
        if len(seen) > _MOST:
            return True
        if isinstance(thing, Tensor):
            if isinstance(thing._raw, jax.core.Tracer) and id(thing) not in run.tensors:
                return True
        elif id(thing) not in run.contents and id(thing) not in run.attributes:
            todo += _parts(thing)
    return False


def _parts(thing):
    """What a thing holds."""
    if isinstance(thing, types.FunctionType):
        cells = map(cell_content, thing.__closure__ or ())
        return [*cells, *(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values()]
    if isinstance(thing, types.MethodType | types.BuiltinFunctionType | types.MethodWrapperType):
        return [thing.__self__, getattr(thing, "__func__", None)]
    if isinstance(thing, slice):
        return [thing.start, thing.stop, thing.step]
    if isinstance(thing, types.MappingProxyType):
        return list(thing.values())
    if isinstance(thing, ft.partial):
        return [thing.func, *thing.args, *thing.keywords.values()]
    if isinstance(thing, types.GeneratorType):
        return [] if thing.gi_frame is None else list(thing.gi_frame.f_locals.values())
    own = getattr(thing, "__dict__", {})
    own = [] if "_sub_layers" in own else list(own.values())  # what a Layer holds is looked after
    if isinstance(thing, dict):
        return [*own, *dict.keys(thing), *dict.values(thing)]
    items = list(thing) if isinstance(thing, _ITEMS) else []
    return [*own, *_slots(thing).values(), *items]
