"""The observer of a run: each read of Python's state passes through it and becomes a fact."""

import argparse
import array
import builtins
import collections
import copy
import datetime
import inspect
import io
import os
import pathlib
import sys
import threading
import types
import uuid

import jax
import numpy as np

from paddle_jax._core.base.caller_info import OURS, is_users, package_of
from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.state import Observing, local
from paddle_jax._core.execution.module_protocol import ModuleBase
from paddle_jax._core.execution.python_state import CONTAINERS, MISSING, stores_of
from paddle_jax._core.tensors.tensor import Parameter, Tensor
from paddle_jax._program.capture.capture import refuse_doubtful
from paddle_jax._program.guards.guard_set import Facts, TooLarge
from paddle_jax._program.guards.observed_calls import _KNOWN, Calls
from paddle_jax.autograd.py_layer import PyLayerContext

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), range, slice, np.generic)
_MAPPINGS = (dict, collections.UserDict, collections.ChainMap, types.MappingProxyType)
_CONTAINERS = (
    list,
    collections.deque,
    set,
    *_MAPPINGS,
    collections.UserList,
    collections.UserString,
    collections.abc.MappingView,
)
# what nobody changes
_STAYING = (datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, pathlib.PurePath, uuid.UUID)
# modules of ours: classes that hold settings
_DESCRIBING = ("distribution", "nn.clip", "nn.initializer", "regularizer", "vision.transforms")
STREAM = (
    "it uses the iterator or file {!r}, which would happen while compiling only; "
    "pass in what is taken from it"
)
_MOST = 4096  # items of a container that are compared at each call
_SLOTS = types.MemberDescriptorType | types.GetSetDescriptorType
_DEEP = 12


class Reads(Calls):
    """Observes one run.

    follows: whether a Tensor found at (store, key) is looked up there anew at each call. layers: ids of the
    Layers that `_program/guards/package_guards.py` compares; settings: its table for what is compared only
    when an attribute of some Layer was set. created: objects that the run has made, by id; outer: containers
    from outside, by id; changed: those whose items it sets; written: (id, name) of the attributes that it
    sets. facts: what was read. reason: why not all reads are covered, or None. codes: code that is observed.
    converted: whether the code that runs has its control flow converted; the user's functions are then
    entered by `converted_call`. twins: (function, its observed form) by id. kept: objects that must live as
    long as the run, since their ids are noted. passing: ids of the containers whose content is being read.
    """

    def __init__(self, follows, layers, created=(), converted=False, settings=None):
        self.converted, self.settings = converted, settings
        self.follows, self.layers, self.created = follows, layers, {id(value): value for value in created}
        self.facts, self.reason, self.codes, self.thread = Facts(), None, set(), None
        self.written, self.changed, self.outer = set(), {}, {}
        self.kept, self.passing, self.twins = [], set(), {}

    def begin(self):
        """Observes from now on, in this thread."""
        self.thread = threading.get_ident()
        Observing.reads = self

    def end(self):
        """Observes no longer."""
        Observing.reads = None

    def here(self):
        """Whether this thread is the one observed."""
        return self.thread == threading.get_ident()

    def settle(self, usage):
        """After the run: finds out whether code of the user has run unobserved, and lets go of what
        belongs to the run.

        Raises:
            Unsupported: the run itself has changed what it rests on.
        """
        other = next((code for code in usage.codes if code not in self.codes), None)
        if not usage.known:
            self.uncovered("a profiler or debugger is at work")
        elif other is not None:
            self.uncovered(
                f"{other.co_qualname} ({other.co_filename}:{other.co_firstlineno}) runs unobserved"
            )
        self.facts.settle(self.changed)
        self.created, self.outer, self.changed = {}, {}, {}
        self.kept, self.twins, self.written = [], {}, set()
        if self.reason is None and not self.facts.hold():
            raise Unsupported(
                f"it changes what it reads ({self.facts.changed()}), which would happen while "
                "compiling only; keep it in a Tensor, or return it"
            )

    def refuse(self, why):
        """Ends the run, before it does what cannot be done again.

        Raises:
            Unsupported: always; code of the user that catches it does not change that.
        """
        error = Unsupported(why)
        self.reason = self.reason or why
        local.ctx.frame.on_refusal(error)
        raise error

    def uncovered(self, why):
        """Notes that something is read without being observed."""
        self.reason = self.reason or why

    # values -------------------------------------------------------------------------------------------------

    def value(self, value, store=None, key=None, table=None):
        """A value that was found outside. table: where the fact goes, unless it is a Tensor that is looked up
        anew at each call."""
        if table is not None and not (isinstance(value, Tensor) and self.follows(value, store, key)):
            table.add(store, key, value)
        self._meets(value)
        if type(value) is np.ndarray:
            self._array(value)
        elif isinstance(value, io.IOBase | collections.abc.Iterator) and id(value) not in self.created:
            self.refuse(STREAM.format(key))
        return value

    def _meets(self, container):
        """Notes a container from outside."""
        if isinstance(container, CONTAINERS) and id(container) not in self.created:
            self.outer[id(container)] = container

    def is_outside(self, owner):
        """Whether a container or object is not one that the run has made."""
        met = id(owner) in self.outer or not isinstance(owner, CONTAINERS)
        return met and id(owner) not in self.created

    def _array(self, array):
        try:
            if id(array) not in self.created:
                self.facts.array(array)
        except TooLarge:
            self.uncovered(f"it uses a NumPy array of {array.nbytes >> 10} KiB from outside; pass it in")

    def name(self, scope, name, value):
        """A global variable, or a builtin."""
        if name in scope:
            return self.value(value, scope, name, self.facts.entries)
        self.facts.entries.add(scope, name, MISSING)
        return self.value(value, builtins.__dict__, name, self.facts.entries)

    def cell(self, cell, name, value):
        """A variable of an enclosing function."""
        return self.value(value, cell, name, self.facts.cells)

    def imported(self, scope, names, level):
        """Modules and names that an import inside the function has bound."""
        package = "." * level
        for module, name in names:
            if level:
                import importlib.util

                module = importlib.util.resolve_name(package + module, scope.get("__package__") or "")
            self.facts.entries.add(sys.modules, module, sys.modules.get(module, MISSING))
            if name is not None and module in sys.modules:
                self.attribute(sys.modules[module], name)

    def new(self, value):
        """A container that the function makes itself."""
        self.created[id(value)] = value
        return value

    # attributes ---------------------------------------------------------------------------------------------

    def attribute(self, owner, name):
        """`owner.name`."""
        kind = type(owner)
        if isinstance(owner, Tensor | jax.Array):
            own = getattr(owner, "__dict__", None)
            if own is not None and name in own:
                return self.value(own[name], own, name, self.facts.entries)
            return self._of_a_tensor(owner, kind, name, own)
        if kind in (str, tuple, list, dict, set, int, float) or (id(owner), name) in self.written:
            return getattr(owner, name)
        if isinstance(owner, types.ModuleType):
            value = getattr(owner, name)
            table = self.facts.entries if name in owner.__dict__ else self.facts.attributes
            return self.value(value, owner.__dict__ if name in owner.__dict__ else owner, name, table)
        if isinstance(owner, type):
            return self._of_a_class(owner, kind, name)
        if kind is super:
            classes = owner.__self_class__.__mro__
            self._on_classes(classes[classes.index(owner.__thisclass__) + 1 :], name)
            return getattr(owner, name)
        if isinstance(owner, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
            return self._of_a_function(owner, name)
        return self._of_an_object(owner, kind, name)

    def _of_a_class(self, cls, kind, name):
        if self.is_users(cls) and id(cls) not in self.created:
            self.facts.attributes.add(cls, "__mro__", cls.__mro__)
        own = self._on_classes(cls.__mro__, name)
        if kind is not type:
            self._on_classes(kind.__mro__, name)
        value = getattr(cls, name)
        table = (
            self.facts.attributes
            if own is MISSING and not isinstance(value, types.MappingProxyType)
            else None
        )
        return self.value(value, cls, name, table)

    def class_of(self, owner):
        """The class of an object of the user's, and what that derives from."""
        kind = type(owner)
        if self.is_users(kind) and id(owner) not in self.created:
            self.facts.attributes.add(owner, "__class__", kind)
            self.facts.attributes.add(kind, "__mro__", kind.__mro__)

    def method_of(self, owner, name):
        """A method of Python's protocols that the user has written for the class of an object, or None."""
        kind = type(owner)
        if not self.is_users(kind):
            return None
        self.class_of(owner)
        method = self._on_classes(kind.__mro__, name)
        return method if self.is_users_function(method) else None

    def _of_a_tensor(self, tensor, kind, name, own):
        """An attribute of a Tensor or array that is no attribute of its own: a method, or what its shape
        and the like tell."""
        if own is not None and id(tensor) not in self.created:
            self.facts.entries.add(own, name, MISSING)
        self._on_classes(kind.__mro__, name)
        if name == "name":
            self._named(tensor)
        if isinstance(tensor, Tensor) and local.ctx.frame.capture is not None:
            for part in tensor.taken_apart()[0] if tensor.is_sparse() else (tensor,):
                local.ctx.frame.capture.used(part)
        return getattr(tensor, name)

    def _named(self, tensor):
        """The name of a Tensor: another one may be passed at the next call."""
        if isinstance(tensor, Parameter):
            self.facts.attributes.add(tensor, "name", tensor.name)
        elif id(tensor) in local.ctx.frame.capture.tensors and not local.ctx.frame.capture.once:
            self.uncovered("it reads the name of a tensor that is passed")

    def _of_a_function(self, function, name):
        value = getattr(function, name)
        if name not in ("__name__", "__qualname__", "__module__", "__self__", "__func__"):
            self.facts.attributes.add(function, name, value)
        return value

    def _on_classes(self, classes, name):
        """What a name gives on the first of some classes that has it."""
        for cls in classes:
            value = self.facts.member(cls, name)
            if value is not MISSING:
                return value
        return MISSING

    def _of_an_object(self, owner, kind, name):
        created, own = id(owner) in self.created, getattr(owner, "__dict__", None)
        if isinstance(owner, ModuleBase) and id(owner) in self.layers and name not in own:
            for store in stores_of(owner):  # what is compared when an attribute of any Layer was set
                if name in store:
                    return self.value(store[name], store, name)
        if (
            own
            and name in own
            and local.ctx.frame.capture is not None
            and id(owner) in local.ctx.frame.capture.objects
        ):
            self.after_effect(f"{kind.__name__}.{name}")
        self.class_of(owner)
        raw = (
            inspect.getattr_static(kind, name, MISSING)
            if created and own is not None and name in own
            else self._on_classes(kind.__mro__, name)
        )
        special = self._special(owner, kind, name, raw, own)
        if special is not MISSING:
            return special
        # a slot, a property and the like, which come before the object's own attributes
        computed = hasattr(type(raw), "__set__")
        if own is not None and not created and not computed:
            self._own(owner, name)
        try:
            value = getattr(owner, name)
        except AttributeError:
            if own is None:
                self.facts.attributes.add(owner, name, MISSING)
            raise
        if not created and (own is None or computed) and not callable(value):
            if self.is_users(kind) or isinstance(value, PLAIN):
                self.facts.attributes.add(owner, name, value)
        return value if created else self.value(value, own, name)

    def after_effect(self, what):
        """Refuses to read what a scheduler's step in the run has changed: at each call it is what that
        step makes of it."""
        self.refuse(
            f"{what} is used after scheduler.step(); call scheduler.step() at the end of the function"
        )

    def _own(self, owner, name):
        """The fact that an object has, or has not, an attribute of its own."""
        stores = stores_of(owner) if isinstance(owner, ModuleBase) else [owner.__dict__]
        store = next((store for store in stores if name in store), owner.__dict__)
        value = store.get(name, MISSING) if name != "forward" else self.own_forward(store)
        if not (isinstance(value, Tensor) and self.follows(value, store, name)):
            self.facts.entries.add(store, name, value)

    def _special(self, owner, kind, name, raw, own):
        """What properties, descriptors and `__getattr__` of the user give; MISSING where there are none."""
        if self.is_users_function(inspect.getattr_static(kind, "__getattribute__", None)):
            self.uncovered(f"{kind.__name__} has __getattribute__")
            return MISSING
        if isinstance(raw, property):
            return self.call(raw.fget, (owner,), {}) if self.is_users_function(raw.fget) else MISSING
        if own is not None and name in own:
            return MISSING
        if raw is MISSING:
            getter = inspect.getattr_static(kind, "__getattr__", None)
            if self.is_users_function(getter):
                self._on_classes(kind.__mro__, "__getattr__")
                if own is not None:
                    self.facts.entries.add(own, name, MISSING)
                return self.call(getter, (owner, name), {})
        elif type(raw).__name__ == "cached_property" and self.is_users_function(raw.func):
            own[name] = value = self.call(raw.func, (owner,), {})
            self.written.add((id(owner), name))
            return value
        elif self.is_users_function(getattr(type(raw), "__get__", None)):
            if own is not None and not hasattr(type(raw), "__set__") and id(owner) not in self.created:
                self.facts.entries.add(own, name, MISSING)
            return self.call(type(raw).__get__, (raw, owner, kind), {})
        return MISSING

    def set_attribute(self, owner, name):
        """Called before `owner.name` is set or deleted."""
        if isinstance(owner, PyLayerContext):
            self.new(owner)
        if (
            isinstance(owner, types.FunctionType | types.MethodType | types.ModuleType | type)
            and id(owner) not in self.created
        ):
            self.refuse(
                f"the attribute {name!r} of a {type(owner).__name__} is set, which would happen "
                "while compiling only; return its value"
            )
        if (
            id(owner) not in self.created
            and not isinstance(owner, Tensor | ModuleBase)
            and self._sets_its_own_way(owner, name)
        ):
            self.refuse(
                f"the attribute {name!r} of a {type(owner).__name__} is set, which keeps it "
                "elsewhere than other objects do, and which would happen while compiling only; "
                "return its value"
            )
        if isinstance(owner, Tensor):
            refuse_doubtful(owner, local.ctx.frame.capture)
            return owner
        self.written.add((id(owner), name))
        self.kept.append(owner)
        if not isinstance(owner, ModuleBase):  # which tells by itself
            local.ctx.frame.on_object_change(owner)
        return owner

    def _sets_its_own_way(self, owner, name):
        """Whether an attribute does not go into the dict of an object, from where it could be taken out
        again: a slot, an own `__setattr__`."""
        kind = type(owner)
        return (
            not isinstance(getattr(owner, "__dict__", None), dict)
            or isinstance(inspect.getattr_static(kind, name, None), _SLOTS)
            or self.is_users_function(inspect.getattr_static(kind, "__setattr__", None))
        )

    def change_attribute(self, owner, name):
        """Called before `owner.name` is changed by `+=` and the like."""
        if not isinstance(owner, Tensor):
            self.attribute(owner, name)
        return self.set_attribute(owner, name)

    # items and content --------------------------------------------------------------------------------------

    def item(self, container, key):
        """`container[key]`."""
        kind = type(container)
        if (
            id(container) in self.created
            or isinstance(container, (*PLAIN, Tensor, jax.Array))
            or kind in (tuple, types.GenericAlias)
            or isinstance(container, type)
        ):
            return self.value(container[key]) if kind is tuple else container[key]
        getter = self.method_of(container, "__getitem__")
        if getter is not None:
            return self.call(getter, (container, key), {})
        if kind is np.ndarray:
            self._array(container)
            return self.value(container[key]) if container.dtype.hasobject else container[key]
        if kind is list and isinstance(key, int):
            return self.value(container[key], container, key, self.facts.items)
        if isinstance(container, dict) and key in container:
            return self.value(container[key], container, key, self.facts.entries)
        if isinstance(container, type(os.environ)):
            self.facts.result(
                lambda: container.get(key), f"the environment variable {key}", (id(container), key)
            )
            return container[key]
        if isinstance(container, types.MappingProxyType):
            self.facts.members.add(container, key, container.get(key, MISSING))
            return container[key]
        self.content(container)
        value = container[key]
        return self.new(value) if isinstance(key, slice) else value

    def set_item(self, container):
        """Called before an item is set or deleted. What is read of the container from now on is what the
        run has made of it."""
        if not isinstance(container, Tensor) and self._alters(container):
            before = copy.copy(container) if type(container) in (dict, list) else container
            self.changed[id(container)] = container, before
            self.new(container)
        return container

    def _alters(self, container):
        """Whether what changes is from outside. There it must be a plain container."""
        outside = id(container) not in self.created
        if outside and not isinstance(container, CONTAINERS):
            kind = "NumPy array" if isinstance(container, np.ndarray) else type(container).__name__
            self.refuse(
                f"a {kind} from outside the function is changed, which would happen while compiling "
                "only; return its values"
            )
        local.ctx.frame.on_object_change(container)
        return outside

    def augmented(self, target, operand):
        """The operand of `target += operand` and the like, where `target` is a variable."""
        if isinstance(target, CONTAINERS):
            local.ctx.frame.on_object_change(target)
        return self.operand(operand)

    def computed(self, value):
        """What an operator gives."""
        return self.new(value) if isinstance(value, CONTAINERS) else value

    def change_item(self, container):
        """Called before an item is changed by `+=` and the like."""
        if not isinstance(container, Tensor):
            self._alters(container)
            self.content(container)
        return container

    def content(self, value, objects=True, depth=0):
        """A value that is handed to code that may look at all of it. objects: also at the attributes of the
        user's objects, not only at the items of containers inside containers."""
        if isinstance(
            value,
            (
                *PLAIN,
                Tensor,
                jax.Array,
                type,
                types.ModuleType,
                types.FunctionType,
                types.BuiltinFunctionType,
                types.CodeType,
            ),
        ):
            return value
        if depth > _DEEP:
            self.uncovered("containers are nested too deep")
        elif type(value) is np.ndarray:
            self._array(value)
            for part in value.flat if value.dtype.kind == "O" else ():
                self.content(part, objects, depth + 1)
        elif isinstance(value, tuple | frozenset):
            for part in value:
                self.content(part, objects, depth + 1)
        elif isinstance(value, _CONTAINERS):
            self._meets(value)
            self._members(value, id(value) in self.created, objects, depth)
        elif isinstance(value, bytearray | memoryview | array.array):
            self.facts.content(value, lambda: bytes(value), f"a {type(value).__name__}")
        elif isinstance(value, type(os.environ)):
            self.facts.content(value, lambda: dict(value), "the environment")
        elif self._describes(value) or isinstance(value, argparse.Namespace):
            self._members(value.__dict__, id(value) in self.created, objects, depth)
        elif objects and (
            isinstance(value, types.SimpleNamespace)
            or self.is_users(type(value))
            and not isinstance(value, ModuleBase)
        ):
            self._object_content(value, objects, depth)
        elif id(value) not in self.created and not self._is_known(value):
            self.uncovered(f"it looks into a {type(value).__module__}.{type(value).__name__} from outside")
        return value

    def _object_content(self, owner, objects, depth):
        """The attributes of an object of the user's, and those that its classes have for it."""
        own = getattr(owner, "__dict__", None)
        if own is not None:
            self._members(own, id(owner) in self.created, objects, depth)
        for cls in type(owner).__mro__:
            for name, member in (
                list(cls.__dict__.items()) if self.is_users(cls) and id(cls) not in self.passing else ()
            ):
                if name[:2] != "__" and not callable(member) and not hasattr(type(member), "__get__"):
                    self.facts.member(cls, name)
                    self.content(member, objects, depth + 1)

    def _is_known(self, owner):
        """Whether an object of Python's own, or of a library, stays what it is, or is looked
        after elsewhere."""
        if isinstance(owner, np.ndarray):  # one with more than its elements
            return False
        root = package_of(type(owner).__module__)
        return root in _KNOWN or self.is_users(type(owner)) or isinstance(owner, _STAYING)

    def _describes(self, owner):
        """Whether an object of ours is its settings, which its user may change: a
        distribution, an initializer."""
        root, _, module = type(owner).__module__.partition(".")
        return root in OURS and module.startswith(_DESCRIBING)

    def _members(self, container, created, objects, depth):
        if id(container) in self.passing or not (created or self._items(container)):
            return
        self.passing.add(id(container))
        for part in list(container.values() if isinstance(container, _MAPPINGS) else container):
            self.content(part, objects, depth + 1)
        self.passing.discard(id(container))

    def _items(self, container):
        """Notes which items a container has. Returns whether they can be compared at each call."""
        if len(container) > _MOST:
            self.uncovered(
                f"it goes through a {type(container).__name__} of {len(container)} items from outside"
            )
            return False
        if isinstance(container, set):
            self.facts.content(container, lambda: frozenset(container), "a set")
        else:
            read = (
                (lambda: tuple(container.items()))
                if isinstance(container, _MAPPINGS)
                else (lambda: tuple(container))
            )
            self.facts.content(container, read, f"the content of a {type(container).__name__}")
        return True

    def unpacked(self, mapping):
        """A mapping whose items become those of another one."""
        if not isinstance(mapping, _MAPPINGS):
            return self.content(mapping)
        if id(mapping) not in self.created and self._items(mapping):
            for part in mapping.values():
                self.value(part)
        return mapping

    def iterate(self, value):
        """What is iterated over."""
        if isinstance(value, (*PLAIN, Tensor, types.GeneratorType)) or id(value) in self.created:
            return value
        getter = self.method_of(value, "__iter__")
        if getter is not None:
            return self.call(getter, (value,), {})
        if isinstance(value, ModuleBase):
            self._own(value, "_sub_layers")
            return value
        return self.content(value, objects=False)

    def pairs(self, value):
        """What is iterated over, and whose items are taken apart."""
        return self.content(value, objects=False) if isinstance(value, (tuple, *CONTAINERS)) else value

    def test(self, value):
        """What is asked whether it is true."""
        for name in ("__bool__", "__len__"):
            method = self.method_of(value, name)
            if method is not None:
                return bool(self.call(method, (value,), {}))
        if isinstance(value, collections.abc.Sized) and not isinstance(value, type):
            self.length(value)
        return value

    def length(self, value):
        """The number of items of something."""
        if (
            not isinstance(value, (*PLAIN, tuple, Tensor))
            and id(value) not in self.created
            and hasattr(value, "__len__")
        ):
            self.facts.result(
                lambda: len(value), f"the length of a {type(value).__name__}", (id(value), "len"), value
            )

    def operand(self, value):
        """An operand of an operator."""
        return self.content(value, objects=False)

    @staticmethod
    def is_users(scope):
        """Whether a class, or the module of a name, is the user's (or of a library on top of Paddle)."""
        return is_users(scope if isinstance(scope, str) else getattr(scope, "__module__", None) or "")
