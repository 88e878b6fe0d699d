"""Results of a captured run in a form from which each call makes them again.

Containers, and objects that the run has made, become nests that JAX flattens, with the Tensors as leaves.
"""

from __future__ import annotations

import collections
import collections.abc
import functools as ft
import io
import threading
import types
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

import jax
import jax.core
import numpy as np

from paddle_jax._core.base.caller_info import is_users
from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.state import Observing
from paddle_jax._core.execution.python_state import SCALARS, cell_content
from paddle_jax._core.tensors.held_values import holds_tracer
from paddle_jax._core.tensors.tensor import Tensor

if TYPE_CHECKING:
    from paddle_jax._program.capture.capture import Capture

# Beyond this the search would take longer than compiling.
_MAX_OBJECTS = 10_000  # objects that are searched for Tensors of the run
_CONSTANTS = (type, types.ModuleType, np.generic, *SCALARS)
_CONTAINERS = (list, tuple, set, frozenset, collections.deque, collections.abc.MappingView)
# An object of another class of a library may hold more than its attributes.
_PLAIN_BASES = (object, list, dict, collections.OrderedDict)


@jax.tree_util.register_pytree_node_class
class Rebuilt:
    """A node of a nest in place of an object that `make(parts)` makes again.

    Attributes:
        parts: the parts of the object, nests themselves.
        make: function that makes the object from a list of its parts.
    """

    def __init__(self, parts: tuple[Any, ...], make: Callable[[list[Any]], Any]) -> None:
        self.parts = parts
        self.make = make

    def tree_flatten(self) -> tuple[tuple[Any, ...], Callable[[list[Any]], Any]]:
        return self.parts, self.make

    @classmethod
    def tree_unflatten(cls, make: Callable[[list[Any]], Any], parts: Iterable[Any]) -> Any:
        return make(list(parts))


def open_result(value: Any, run: Capture, numbers: Collection[int] = ()) -> Any:
    """A nest that `jax.tree.flatten` takes apart, and that `jax.tree.unflatten` makes a new value of.

    Args:
        value: any object.
        run: the Capture.
        numbers: ids of Tensors that stand for Python numbers, and become such.
    Raises:
        Unsupported: it holds Tensors of the run in a way that cannot be repeated.
    """
    return _Opening(run, numbers).open(value)


class _Opening:
    """Makes a nest of one value.

    Attributes:
        run: the Capture.
        numbers: ids of Tensors that stand for Python numbers.
        on_path: ids of the objects around the present one.
        repeats: {id: how often an object occurs after its first place}.
        waiting: for each thread {id: (new object, places left)} of objects that occur several times.
        created: objects that the run has made, by id.
        outer: containers from outside, by id.
    """

    def __init__(self, run: Capture, numbers: Collection[int]) -> None:
        self.run = run
        self.numbers = numbers
        self.on_path: set[int] = set()
        self.repeats: dict[int, int] = {}
        self.waiting = threading.local()
        observer = Observing.observer
        self.created: dict[int, Any] = {} if observer is None else observer.created
        self.outer: dict[int, Any] = {} if observer is None else observer.outer_containers

    def open(self, value: Any) -> Any:
        """The nest of a value."""
        kind: Any = type(value)
        if isinstance(value, (Tensor, *_CONSTANTS)):
            # The code gives a number back, which was a Tensor in the run.
            if id(value) in self.numbers:
                return Rebuilt((value,), lambda parts: parts[0].item())
            return value
        # Such as a list that the caller has passed in and gets back.
        if id(value) in self.outer and id(value) not in self.created:
            return Rebuilt((), lambda parts: value)  # a container from outside stays the same object
        if kind is list or kind is tuple:
            return self._enter(value, lambda: kind(map(self.open, value)))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return self._enter(value, lambda: Rebuilt(self._open_all(value), lambda parts: kind(*parts)))
        if kind in (dict, collections.OrderedDict, collections.defaultdict):
            return self._enter(value, lambda: self._open_mapping(value, kind))
        # A copy per call: the caller may change it.
        if kind is np.ndarray:
            array: Any = value
            return Rebuilt((), lambda parts: array.copy())
        if kind in (set, collections.deque):
            limit = (value.maxlen,) if isinstance(value, collections.deque) else ()
            return self._enter(
                value, lambda: Rebuilt(self._open_all(value), lambda parts: kind(parts, *limit))
            )
        return self._open_object(value, kind)

    def _open_all(self, values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(map(self.open, values))

    def _enter(self, value: Any, opening: Callable[[], Any]) -> Any:
        """Returns `opening()` for the parts of a value; refuses a value that holds itself."""
        if id(value) in self.on_path:
            raise _holds_itself(value)
        self.on_path.add(id(value))
        result = opening()
        self.on_path.discard(id(value))
        return result

    def _open_mapping(self, value: Any, kind: Callable[..., Any]) -> Rebuilt:
        keys = list(value)
        if kind is collections.defaultdict:
            start = (value.default_factory,)
        else:
            start = ()

        def make(parts: list[Any]) -> Any:
            return kind(*start, zip(keys, parts, strict=True))

        return Rebuilt(self._open_all(value.values()), make)

    def _open_object(self, value: Any, kind: type) -> Any:
        """The nest of an object that is no plain container."""
        run = self.run
        # The program would give the same used-up iterator again.
        if isinstance(value, collections.abc.Iterator | io.IOBase):
            raise Unsupported(
                f"a {kind.__name__} is given back, which is used up after one call; return a list"
            )
        is_layer = "_sub_layers" in getattr(value, "__dict__", ())
        is_created = id(value) in self.created
        is_followed = id(value) in run.contents or id(value) in run.attributes
        # Its changes are taken over as attributes, and the object is the same one.
        if is_followed or is_layer and not is_created:
            return Rebuilt((), lambda parts: value)  # the run restores and repeats what it holds
        if is_layer:
            return value
        if is_created and _is_plain(kind):
            # The same object in two places must be one object in the result as well.
            if id(value) in self.repeats:
                return self._repeat(value)
            self.repeats[id(value)] = 0
            return self._enter(value, lambda: self._open_created(value, kind))
        # It would leave a tracer with the caller, which JAX refuses at its next use.
        if reaches_run_tensor(value, run):
            raise Unsupported(
                f"a {kind.__name__} that holds a tensor of the run is given back; return the tensor itself"
            )
        return Rebuilt((), lambda parts: value)

    def _repeat(self, value: Any) -> Rebuilt:
        """The nest of an object that occurs in several places, and that each call makes once."""
        key = id(value)
        if key in self.on_path:
            raise _holds_itself(value)
        self.repeats[key] += 1

        # The first place makes the object and leaves it for the others, which come later in the order of
        # leaves.
        def take(parts: list[Any]) -> Any:
            waiting: dict[Any, Any] = self.waiting.__dict__
            new, places_left = waiting.pop(key)
            if places_left > 1:
                waiting[key] = new, places_left - 1
            return new

        return Rebuilt((), take)

    def _open_created(self, value: Any, kind: Any) -> Rebuilt:
        """The nest of an object with its attributes and, of a container of its own class, its items."""
        attributes = getattr(value, "__dict__", {})
        slots = _slots(value)
        names = [*attributes]
        keys = list(dict.keys(value)) if isinstance(value, dict) else None
        items: list[Any] = []
        if isinstance(value, dict):
            items = list(dict.values(value))
        elif isinstance(value, list):
            items = list(value)
        mapping: type[dict[Any, Any]] = (
            collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict
        )
        # By id: the object may not be hashable.
        key = id(value)

        def make(parts: list[Any]) -> Any:
            # Without `__init__`, which may do more than set attributes.
            new = kind.__new__(kind)
            slot_parts = parts[len(names) :]
            item_parts = slot_parts[len(slots) :]
            if hasattr(new, "__dict__"):
                new.__dict__.update(zip(names, parts, strict=False))
            for name, part in zip(slots, slot_parts, strict=False):
                object.__setattr__(new, name, part)
            if keys is not None:
                for name, part in zip(keys, item_parts, strict=True):
                    mapping.__setitem__(new, name, part)
            elif item_parts:
                list.extend(new, item_parts)
            if self.repeats[key]:
                waiting: dict[Any, Any] = self.waiting.__dict__
                waiting[key] = new, self.repeats[key]
            return new

        # Attributes, slots and items in one tuple, and `make` divides it again.
        return Rebuilt(self._open_all((*attributes.values(), *slots.values(), *items)), make)


def _holds_itself(value: Any) -> Unsupported:
    return Unsupported(f"a {type(value).__name__} that holds itself is given back; leave it out")


@ft.cache
def _is_plain(kind: type) -> bool:
    """Whether objects of a class are their attributes and items, and nothing else."""
    modules = ("typing", "abc", "collections.abc")
    is_known = [
        cls in _PLAIN_BASES or cls.__module__ in modules or is_users(cls.__module__ or "")
        for cls in kind.__mro__
    ]
    # Another `__new__` may keep state that no attribute shows.
    return all(is_known) and kind.__new__ in [base.__new__ for base in _PLAIN_BASES]


def _slots(value: Any) -> dict[str, Any]:
    """{name: value} of the slots of an object that are set."""
    names = [
        name
        for cls in type(value).__mro__
        for name, member in vars(cls).items()
        if isinstance(member, types.MemberDescriptorType)
    ]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def reaches_run_tensor(value: Any, run: Capture) -> bool:
    """Whether an object leads to a Tensor that the run has made; True where there is too much to search."""
    todo = [value]
    seen: set[int] = set()
    while todo:
        # By a list and not by recursion: objects may be nested deeper than Python allows.
        part = todo.pop()
        if id(part) in seen or isinstance(part, _CONSTANTS):
            continue
        seen.add(id(part))
        if len(seen) > _MAX_OBJECTS:
            return True
        if isinstance(part, Tensor):
            # A tracer of the run; an operand is a Tensor from outside.
            if holds_tracer(part) and id(part) not in run.tensors:
                return True
        elif id(part) not in run.contents and id(part) not in run.attributes:
            todo += _parts(part)
    return False


def _parts(value: Any) -> list[Any]:
    """The objects that an object holds."""
    if isinstance(value, types.FunctionType):
        cells = map(cell_content, value.__closure__ or ())
        return [*cells, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    if isinstance(value, types.MethodType | types.BuiltinFunctionType | types.MethodWrapperType):
        return [value.__self__, getattr(value, "__func__", None)]
    if isinstance(value, slice):
        return [value.start, value.stop, value.step]
    if isinstance(value, types.MappingProxyType):
        return list(value.values())
    if isinstance(value, ft.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, types.GeneratorType):
        if value.gi_frame is None:
            return []
        # Of a running generator the local variables.
        return list(value.gi_frame.f_locals.values())
    attributes = getattr(value, "__dict__", {})
    # the run restores and repeats what a Layer holds
    if "_sub_layers" in attributes:
        parts = []
    else:
        parts = list(attributes.values())
    if isinstance(value, dict):
        return [*parts, *dict.keys(value), *dict.values(value)]
    content: Any = value if isinstance(value, _CONTAINERS) else ()
    items = list(content)
    return [*parts, *_slots(value).values(), *items]
