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

from paddle_jax._core.capture.capture import refuse_doubtful
from paddle_jax._core.capture.environment import CONTAINERS, MISSING
from paddle_jax._core.errors import Unsupported
from paddle_jax._core.runtime.origins import OURS, is_users, package_of
from paddle_jax._core.state import Observing, local
from paddle_jax._core.tensor import Parameter, Tensor
from paddle_jax.autograd.py_layer import PyLayerContext
from paddle_jax.jit.observed.calls import _KNOWN, Calls
from paddle_jax.jit.observed.facts import Facts, TooLarge
from paddle_jax.nn.layer.layers import Layer

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), range, slice, np.generic)
_MAPPINGS = (dict, collections.UserDict, collections.ChainMap, types.MappingProxyType)
_CONTAINERS = (list, collections.deque, set, *_MAPPINGS, collections.UserList, collections.UserString,
               collections.abc.MappingView)
# what nobody changes
_STAYING = (datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, pathlib.PurePath, uuid.UUID)
# modules of ours: classes that hold settings
_DESCRIBING = ("distribution", "nn.clip", "nn.initializer", "regularizer", "vision.transforms")
_MOST = 4096  # items of a container that are compared at each call
_STORES = ("_parameters", "_buffers", "_sub_layers")
_SLOTS = types.MemberDescriptorType | types.GetSetDescriptorType
_DEEP = 12


class Reads(Calls):
    """Observes one run.

    known: whether a Tensor found at (store, key) is looked up there anew at each call. layers: ids of the
    Layers that `jit/guards.py` compares; settings: its table for what is compared only when an attribute of
    some Layer was set. made: objects that the run has made, by id; outer: containers from outside, by id;
    changed: those whose items it sets; written: (id, name) of the attributes that it sets. facts: what was
    read. reason: why not all reads are covered, or None. codes: code that is observed.
    """

    def __init__(self, known, layers, made=(), converted=False, settings=None):
        super().__init__()
        self.converted, self.settings = converted, settings
        self.known, self.layers, self.made = known, layers, {id(thing): thing for thing in made}
        self.facts, self.reason, self.codes, self.written, self.changed, self.thread = (Facts(), None, set(),
                                                                                        set(), {}, None)
        self.outer = {}

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
        other = next(iter(usage.unobserved(self.codes)), None)
        if not usage.known:
            self.uncovered("a profiler or debugger is at work")
        elif other is not None:
            self.uncovered(f"{other.co_qualname} ({other.co_filename}:{other.co_firstlineno}) runs "
                           "unobserved")
        self.facts.settle(self.changed)
        self.made, self.outer, self.kept, self.twins, self.written, self.changed = {}, {}, [], {}, set(), {}
        if self.reason is None and not self.facts.hold():
            raise Unsupported(f"it changes what it reads ({self.facts.changed()}), which would happen while "
                              "compiling only; keep it in a Tensor, or return it")

    def refuse(self, why):
        """Ends the run, before it does what cannot be done again.

        Raises:
            Unsupported: always; code of the user that catches it does not change that.
        """
        error = Unsupported(why)
        self.reason = self.reason or why
        local.ctx.frame.refused(error)
        raise error

    def uncovered(self, why):
        """Notes that something is read without being observed."""
        self.reason = self.reason or why

    # values -------------------------------------------------------------------------------------------------

    def value(self, value, store=None, key=None, table=None):
        """A value that was found outside. table: where the fact goes, unless it is a Tensor that is looked up
        anew at each call."""
        if table is not None and not (isinstance(value, Tensor) and self.known(value, store, key)):
            table.add(store, key, value)
        self._meets(value)
        if type(value) is np.ndarray:
            self._array(value)
        elif isinstance(value, io.IOBase | collections.abc.Iterator) and id(value) not in self.made:
            self.refuse(f"it uses the iterator or file {key!r}, which would happen while compiling only; "
                        "pass in what is taken from it")
        return value

    def _meets(self, thing):
        """Notes a container from outside."""
        if isinstance(thing, CONTAINERS) and id(thing) not in self.made:
            self.outer[id(thing)] = thing

    def is_outside(self, thing):
        """Whether a container or object is not one that the run has made."""
        return id(thing) not in self.made and (id(thing) in self.outer or not isinstance(thing, CONTAINERS))

    def _array(self, array):
        try:
            if id(array) not in self.made:
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

    def new(self, thing):
        """A container that the function makes itself."""
        self.made[id(thing)] = thing
        return thing

    # attributes ---------------------------------------------------------------------------------------------

    def attribute(self, thing, name):
        """`thing.name`."""
        kind = type(thing)
        if isinstance(thing, Tensor | jax.Array):
            own = getattr(thing, "__dict__", None)
            if own is not None and name in own:
                return self.value(own[name], own, name, self.facts.entries)
            return self._of_a_tensor(thing, kind, name, own)
        if kind in (str, tuple, list, dict, set, int, float) or (id(thing), name) in self.written:
            return getattr(thing, name)
        if isinstance(thing, types.ModuleType):
            value = getattr(thing, name)
            table = self.facts.entries if name in thing.__dict__ else self.facts.attributes
            return self.value(value, thing.__dict__ if name in thing.__dict__ else thing, name, table)
        if isinstance(thing, type):
            return self._of_a_class(thing, kind, name)
        if kind is super:
            classes = thing.__self_class__.__mro__
            self._on_classes(classes[classes.index(thing.__thisclass__) + 1 :], name)
            return getattr(thing, name)
        if isinstance(thing, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
            return self._of_a_function(thing, name)
        return self._of_an_object(thing, kind, name)

    def _of_a_class(self, thing, kind, name):
        if self.is_users(thing) and id(thing) not in self.made:
            self.facts.attributes.add(thing, "__mro__", thing.__mro__)
        own = self._on_classes(thing.__mro__, name)
        if kind is not type:
            self._on_classes(kind.__mro__, name)
        value = getattr(thing, name)
        table = (self.facts.attributes if own is MISSING and not isinstance(value, types.MappingProxyType)
                 else None)
        return self.value(value, thing, name, table)

    def class_of(self, thing, kind):
        """The class of an object of the user's, and what that derives from."""
        if self.is_users(kind) and id(thing) not in self.made:
            self.facts.attributes.add(thing, "__class__", kind)
            self.facts.attributes.add(kind, "__mro__", kind.__mro__)

    def method_of(self, thing, name):
        """A method of Python's protocols that the user has written for the class of an object, or None."""
        kind = type(thing)
        if not self.is_users(kind):
            return None
        self.class_of(thing, kind)
        method = self._on_classes(kind.__mro__, name)
        return method if self.is_users_function(method) else None

    def _of_a_tensor(self, thing, kind, name, own):
        """An attribute of a Tensor or array that is no attribute of its own: a method, or what its shape
        and the like tell."""
        if own is not None and id(thing) not in self.made:
            self.facts.entries.add(own, name, MISSING)
        self._on_classes(kind.__mro__, name)
        if name == "name":
            self._named(thing)
        if isinstance(thing, Tensor) and local.ctx.frame.capture is not None:
            for part in thing.taken_apart()[0] if thing.is_sparse() else (thing,):
                local.ctx.frame.capture.used(part)
        return getattr(thing, name)

    def _named(self, tensor):
        """The name of a Tensor: another one may be passed at the next call."""
        if isinstance(tensor, Parameter):
            self.facts.attributes.add(tensor, "name", tensor.name)
        elif id(tensor) in local.ctx.frame.capture.places and not local.ctx.frame.capture.once:
            self.uncovered("it reads the name of a tensor that is passed")

    def _of_a_function(self, thing, name):
        value = getattr(thing, name)
        if name not in ("__name__", "__qualname__", "__module__", "__self__", "__func__"):
            self.facts.attributes.add(thing, name, value)
        return value

    def _on_classes(self, classes, name):
        """What a name gives on the first of some classes that has it."""
        for cls in classes:
            value = self.facts.member(cls, name)
            if value is not MISSING:
                return value
        return MISSING

    def _of_an_object(self, thing, kind, name):
        made, own = id(thing) in self.made, getattr(thing, "__dict__", None)
        if isinstance(thing, Layer) and id(thing) in self.layers and name not in own:
            for store in _STORES:  # what is compared when an attribute of any Layer was set
                if name in own[store]:
                    return self.value(own[store][name], own[store], name)
        if (own and name in own and local.ctx.frame.capture is not None
                and id(thing) in local.ctx.frame.capture.objects):
            self.after_effect(f"{kind.__name__}.{name}")
        self.class_of(thing, kind)
        raw = (inspect.getattr_static(kind, name, MISSING) if made and own is not None and name in own
               else self._on_classes(kind.__mro__, name))
        special = self._special(thing, kind, name, raw, own)
        if special is not MISSING:
            return special
        # a slot, a property and the like, which come before the object's own attributes
        computed = hasattr(type(raw), "__set__")
        if own is not None and not made and not computed:
            self._own(thing, own, name, raw)
        try:
            value = getattr(thing, name)
        except AttributeError:
            if own is None:
                self.facts.attributes.add(thing, name, MISSING)
            raise
        if not made and (own is None or computed) and not callable(value):
            if self.is_users(kind) or isinstance(value, PLAIN):
                self.facts.attributes.add(thing, name, value)
        return value if made else self.value(value, own, name)

    def after_effect(self, what):
        """Refuses to read what a scheduler's step in the run has changed: at each call it is what that
        step makes of it."""
        self.refuse(f"{what} is used after scheduler.step(); "
                    "call scheduler.step() at the end of the function")

    def _own(self, thing, own, name, raw):
        """The fact that an object has, or has not, an attribute of its own."""
        store = (next((own[s] for s in _STORES if name in own[s]), own)
                 if isinstance(thing, Layer) and name not in own else own)
        value = store.get(name, MISSING) if name != "forward" else self.own_forward(store)
        if not (isinstance(value, Tensor) and self.known(value, store, name)):
            self.facts.entries.add(store, name, value)

    def _special(self, thing, kind, name, raw, own):
        """What properties, descriptors and `__getattr__` of the user give; MISSING where there are none."""
        if self.is_users_function(inspect.getattr_static(kind, "__getattribute__", None)):
            self.uncovered(f"{kind.__name__} has __getattribute__")
            return MISSING
        if isinstance(raw, property):
            return self.call(raw.fget, (thing,), {}) if self.is_users_function(raw.fget) else MISSING
        if own is not None and name in own:
            return MISSING
        if raw is MISSING:
            getter = inspect.getattr_static(kind, "__getattr__", None)
            if self.is_users_function(getter):
                self._on_classes(kind.__mro__, "__getattr__")
                if own is not None:
                    self.facts.entries.add(own, name, MISSING)
                return self.call(getter, (thing, name), {})
        elif type(raw).__name__ == "cached_property" and self.is_users_function(raw.func):
            own[name] = value = self.call(raw.func, (thing,), {})
            self.written.add((id(thing), name))
            return value
        elif self.is_users_function(getattr(type(raw), "__get__", None)):
            if own is not None and not hasattr(type(raw), "__set__") and id(thing) not in self.made:
                self.facts.entries.add(own, name, MISSING)
            return self.call(type(raw).__get__, (raw, thing, kind), {})
        return MISSING

    def set_attribute(self, thing, name):
        """Called before `thing.name` is set or deleted."""
        if isinstance(thing, PyLayerContext):
            self.new(thing)
        if (isinstance(thing, types.FunctionType | types.MethodType | types.ModuleType | type)
                and id(thing) not in self.made):
            self.refuse(f"the attribute {name!r} of a {type(thing).__name__} is set, which would happen "
                        "while compiling only; return its value")
        if (id(thing) not in self.made and not isinstance(thing, Tensor | Layer)
                and self._sets_its_own_way(thing, name)):
            self.refuse(f"the attribute {name!r} of a {type(thing).__name__} is set, which keeps it "
                        "elsewhere than other objects do, and which would happen while compiling only; "
                        "return its value")
        if isinstance(thing, Tensor):
            refuse_doubtful(thing, local.ctx.frame.capture)
            return thing
        self.written.add((id(thing), name))
        self.kept.append(thing)
        if not isinstance(thing, Layer):  # which tells by itself
            local.ctx.frame.altered(thing)
        return thing

    def _sets_its_own_way(self, thing, name):
        """Whether an attribute does not go into the dict of an object, from where it could be taken out
        again: a slot, an own `__setattr__`."""
        kind = type(thing)
        return (not isinstance(getattr(thing, "__dict__", None), dict)
                or isinstance(inspect.getattr_static(kind, name, None), _SLOTS)
                or self.is_users_function(inspect.getattr_static(kind, "__setattr__", None)))

    def change_attribute(self, thing, name):
        """Called before `thing.name` is changed by `+=` and the like."""
        if not isinstance(thing, Tensor):
            self.attribute(thing, name)
        return self.set_attribute(thing, name)

    # items and content --------------------------------------------------------------------------------------

    def item(self, thing, key):
        """`thing[key]`."""
        kind = type(thing)
        if (id(thing) in self.made or isinstance(thing, (*PLAIN, Tensor, jax.Array))
                or kind in (tuple, types.GenericAlias) or isinstance(thing, type)):
            return self.value(thing[key]) if kind is tuple else thing[key]
        getter = self.method_of(thing, "__getitem__")
        if getter is not None:
            return self.call(getter, (thing, key), {})
        if kind is np.ndarray:
            self._array(thing)
            return thing[key]
        if kind is list and isinstance(key, int):
            return self.value(thing[key], thing, key, self.facts.items)
        if isinstance(thing, dict) and key in thing:
            return self.value(thing[key], thing, key, self.facts.entries)
        if isinstance(thing, type(os.environ)):
            self.facts.result(lambda: thing.get(key), thing.get(key), f"the environment variable {key}",
                              (id(thing), key))
            return thing[key]
        if isinstance(thing, types.MappingProxyType):
            self.facts.members.add(thing, key, thing.get(key, MISSING))
            return thing[key]
        self.content(thing)
        value = thing[key]
        return self.new(value) if isinstance(key, slice) else value

    def set_item(self, thing):
        """Called before an item is set or deleted. What is read of the container from now on is what the
        run has made of it."""
        if not isinstance(thing, Tensor) and self._alters(thing):
            self.changed[id(thing)] = thing, copy.copy(thing) if type(thing) in (dict, list) else thing
            self.made[id(thing)] = thing
        return thing

    def _alters(self, thing):
        """Whether what changes is from outside. There it must be a plain container."""
        outside = id(thing) not in self.made
        if outside and not isinstance(thing, CONTAINERS):
            kind = "NumPy array" if isinstance(thing, np.ndarray) else type(thing).__name__
            self.refuse(f"a {kind} from outside the function is changed, which would happen while compiling "
                        "only; return its values")
        local.ctx.frame.altered(thing)
        return outside

    def augmented(self, thing, value):
        """The operand of `thing += value` and the like, where `thing` is a variable."""
        if isinstance(thing, CONTAINERS):
            local.ctx.frame.altered(thing)
        return self.operand(value)

    def computed(self, value):
        """What an operator gives."""
        return self.new(value) if isinstance(value, CONTAINERS) else value

    def change_item(self, thing):
        """Called before an item is changed by `+=` and the like."""
        if not isinstance(thing, Tensor):
            self._alters(thing)
            self.content(thing)
        return thing

    def content(self, thing, objects=True, depth=0):
        """A thing that is handed to code that may look at all of it. objects: also at the attributes of the
        user's objects, not only at the items of containers inside containers."""
        if isinstance(thing, (*PLAIN, Tensor, jax.Array, type, types.ModuleType, types.FunctionType,
                              types.BuiltinFunctionType, types.CodeType)):
            return thing
        if depth > _DEEP:
            self.uncovered("containers are nested too deep")
        elif type(thing) is np.ndarray:
            self._array(thing)
        elif isinstance(thing, tuple | frozenset):
            for item in thing:
                self.content(item, objects, depth + 1)
        elif isinstance(thing, _CONTAINERS):
            self._meets(thing)
            self._members(thing, id(thing) in self.made, objects, depth)
        elif isinstance(thing, bytearray | memoryview | array.array):
            self.facts.content(thing, lambda: bytes(thing), f"a {type(thing).__name__}")
        elif isinstance(thing, type(os.environ)):
            self.facts.content(thing, lambda: dict(thing), "the environment")
        elif self._describes(thing) or isinstance(thing, argparse.Namespace):
            self._members(thing.__dict__, id(thing) in self.made, objects, depth)
        elif objects and (isinstance(thing, types.SimpleNamespace)
                          or self.is_users(type(thing)) and not isinstance(thing, Layer)):
            self._object_content(thing, objects, depth)
        elif id(thing) not in self.made and not self._is_known(thing):
            self.uncovered(f"it looks into a {type(thing).__module__}.{type(thing).__name__} from outside")
        return thing

    def _object_content(self, thing, objects, depth):
        """The attributes of an object of the user's, and those that its classes have for it."""
        own = getattr(thing, "__dict__", None)
        if own is not None:
            self._members(own, id(thing) in self.made, objects, depth)
        for cls in type(thing).__mro__:
            for name, value in (list(cls.__dict__.items())
                                if self.is_users(cls) and id(cls) not in self.passing else ()):
                if name[:2] != "__" and not callable(value) and not hasattr(type(value), "__get__"):
                    self.facts.member(cls, name)
                    self.content(value, objects, depth + 1)

    def _is_known(self, thing):
        """Whether an object of Python's own, or of a library, stays what it is, or is looked
        after elsewhere."""
        if isinstance(thing, np.ndarray):  # one with more than its elements
            return False
        root = package_of(type(thing).__module__)
        return root in _KNOWN or self.is_users(type(thing)) or isinstance(thing, _STAYING)

    def _describes(self, thing):
        """Whether an object of ours is its settings, which its user may change: a
        distribution, an initializer."""
        root, _, module = type(thing).__module__.partition(".")
        return root in OURS and module.startswith(_DESCRIBING)

    def _members(self, thing, made, objects, depth):
        if id(thing) in self.passing or not (made or self._items(thing)):
            return
        self.passing.add(id(thing))
        for item in list(thing.values() if isinstance(thing, _MAPPINGS) else thing):
            self.content(item, objects, depth + 1)
        self.passing.discard(id(thing))

    def _items(self, thing):
        """Notes which items a container has. Returns whether they can be compared at each call."""
        if len(thing) > _MOST:
            self.uncovered(f"it goes through a {type(thing).__name__} of {len(thing)} items from outside")
            return False
        if isinstance(thing, set):
            self.facts.content(thing, lambda: frozenset(thing), "a set")
        else:
            read = (lambda: tuple(thing.items())) if isinstance(thing, _MAPPINGS) else (lambda: tuple(thing))
            self.facts.content(thing, read, f"the content of a {type(thing).__name__}")
        return True

    def unpacked(self, thing):
        """A mapping whose items become those of another one."""
        if not isinstance(thing, _MAPPINGS):
            return self.content(thing)
        if id(thing) not in self.made and self._items(thing):
            for value in thing.values():
                self.value(value)
        return thing

    def iterate(self, thing):
        """What is iterated over."""
        if isinstance(thing, (*PLAIN, Tensor, types.GeneratorType)) or id(thing) in self.made:
            return thing
        getter = self.method_of(thing, "__iter__")
        if getter is not None:
            return self.call(getter, (thing,), {})
        if isinstance(thing, Layer):
            self._own(thing, thing.__dict__, "_sub_layers", None)
            return thing
        return self.content(thing, objects=False)

    def pairs(self, thing):
        """What is iterated over, and whose items are taken apart."""
        return (self.content(thing, objects=False)
                if isinstance(thing, (list, tuple, dict, set, collections.deque)) else thing)

    def test(self, thing):
        """What is asked whether it is true."""
        for name in ("__bool__", "__len__"):
            method = self.method_of(thing, name)
            if method is not None:
                return bool(self.call(method, (thing,), {}))
        if isinstance(thing, collections.abc.Sized) and not isinstance(thing, type):
            self.length(thing)
        return thing

    def length(self, thing):
        """The number of items of something."""
        if (not isinstance(thing, (*PLAIN, tuple, Tensor)) and id(thing) not in self.made
                and hasattr(thing, "__len__")):
            self.facts.result(lambda: len(thing), len(thing), f"the length of a {type(thing).__name__}",
                              (id(thing), "len"), thing)

    def operand(self, thing):
        """An operand of an operator."""
        return thing if isinstance(thing, (*PLAIN, Tensor)) else self.content(thing, objects=False)

    def is_users(self, scope):
        """Whether a class, or the module of a name, is the user's (or of a library on top of Paddle)."""
        return is_users(scope if isinstance(scope, str) else getattr(scope, "__module__", None) or "")


class View:
    """The observer as one function sees it."""

    __slots__ = ("attribute", "augmented", "call", "change_attribute", "change_item", "computed", "content",
                 "item", "iterate", "new", "operand", "pairs", "set_attribute", "set_item", "test",
                 "unpacked", "_cells", "_reads", "_scope")
    slice = slice

    def __init__(self, reads, function, cells):
        self._reads, self._scope, self._cells = reads, function.__globals__, cells
        for name in View.__slots__[:-3]:
            setattr(self, name, getattr(reads, name))

    def name(self, name, value):
        """A global variable."""
        return self._reads.name(self._scope, name, value)

    def cell(self, name, value):
        """A variable of an enclosing function."""
        return self._reads.cell(self._cells[name], name, value)

    def imported(self, names, level):
        """What an import has bound."""
        self._reads.imported(self._scope, names, level)
