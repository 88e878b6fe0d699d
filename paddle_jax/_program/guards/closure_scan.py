"""What a function can reach without being passed it: Tensors (with the place where they are found anew at
each call) and values it may depend on."""

import collections
import functools as ft
import random
import types

import numpy as np

from paddle_jax._core.base.caller_info import LIBRARIES, is_users, package_of
from paddle_jax._core.execution.module_protocol import AttributeStore, ModuleBase, captured_state
from paddle_jax._core.execution.python_state import MISSING, SCALARS, Snapshot, members, variables_of
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.guards.package_guards import PackageGuards

_DEEP = 4  # levels of functions, containers and plain objects that are looked into
_MANY = 4096  # items of a list or dict that are looked at
_STORES = ("_parameters", "_buffers", "_sub_layers", "_forward_pre_hooks", "_forward_post_hooks")
# classes that one derives from to write a Layer
_BARE = ("Layer", "Sequential", "LayerList", "LayerDict", "ParameterList", "ParameterDict")


class ClosureScan:
    """What a function reaches.

    Methods and variables of modules count if the code that may run names them.

    Attributes:
        tensors: {id: Tensor}.
        slots: {id: (dict or list, key)} of the Tensors that each call looks up.
        package_guards: PackageGuards for the parts of Layers and optimizers that this package reads.
        objects: plain objects and containers whose content the function may change.
        snapshot: Snapshot of the variables that the function sees.
        generators: random generators of Python or NumPy.
        seen: ids of the objects that were scanned.
        names: the names in the code that may run.
        owners: objects, classes and modules of the user, while the scan lasts.
    """

    def __init__(self, function, others=()):
        self.slots, self.tensors, self.package_guards = {}, {}, PackageGuards()
        self.snapshot, self.objects, self.generators = Snapshot(), [], []
        self.seen, self.names, self.owners = set(), {"forward", "__call__"}, []
        self.function(function)
        for value in others:
            self._inside(value)
        self._finish()

    def has_slot(self, tensor, store, key):
        """Whether a Tensor is looked up at a place at each call."""
        slot = self.slots.get(id(tensor))
        return slot is not None and slot[0] is store and slot[1] == key

    # walking ------------------------------------------------------------------------------------------------

    def function(self, function, depth=_DEEP):
        """Looks at the closure, the defaults and the globals of a function."""
        if isinstance(function, types.MethodType):
            self._inside(function.__self__, depth)
            function = function.__func__
        if not isinstance(function, types.FunctionType):
            function = getattr(function, "__wrapped__", function)
        if not isinstance(function, types.FunctionType) or id(function) in self.seen or not depth:
            return
        if package_of(function.__module__ or "") in LIBRARIES:
            return
        self.seen.add(id(function))
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._value(default, None, None, depth)
        for place, name, value in variables_of(function):
            self.snapshot.variables.append((place, name, value))
            if value is not MISSING:
                self._value(value, place if isinstance(place, dict) else None, name, depth)
        self._names(function.__code__)

    def _finish(self):
        """Reads the methods that may be called, and what the code names of the user's modules."""
        size = None
        while size != (len(self.names), len(self.owners)):
            size = len(self.names), len(self.owners)
            for owner in list(self.owners):
                if isinstance(owner, types.ModuleType):
                    self._module(owner)
                elif not isinstance(owner, type):
                    for cls in type(owner).__mro__:
                        for name, method in list(cls.__dict__.items()):
                            if name in self.names:
                                self._method(method)
        self.owners = []  # not kept alive

    def _module(self, module):
        """Looks at what the code names of a module of the user's."""
        own = module.__dict__
        if not _is_installed(own.get("__file__")):
            for name in [name for name in own if name in self.names and (id(module), name) not in self.seen]:
                self.seen.add((id(module), name))
                self._value(own[name], own, name, 2)

    def _names(self, code):
        self.names.update(code.co_names)
        self.names.update([text for text in code.co_consts if type(text) is str])
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):  # functions and comprehensions inside
                self._names(constant)

    def _value(self, value, store, key, depth):
        """Looks at one value; `store[key]` is where it is found anew at each call. store: None where it does
        not change."""
        if type(value) in SCALARS:
            return
        if isinstance(value, set | collections.deque):
            if len(value) <= _MANY and id(value) not in self.seen:
                self.seen.add(id(value))
                self.objects.append(value)
        elif isinstance(value, np.random.Generator | np.random.RandomState | random.Random):
            self.generators.append(value)
        elif isinstance(value, Tensor) and not value.is_sparse():  # a sparse one is an object made of several
            self._tensor(value, store, key)
        elif isinstance(value, types.FunctionType | types.MethodType):
            self.function(value, depth - 1)
        elif isinstance(value, ft.partial):
            for part in (value.func, value.args, value.keywords):
                self._value(part, None, None, depth - 1)
        elif isinstance(value, type | types.ModuleType):
            name = value.__name__ if isinstance(value, types.ModuleType) else value.__module__
            if id(value) not in self.seen and is_users(name):
                self.seen.add(id(value))
                self.owners.append(value)
        elif depth and not isinstance(value, types.BuiltinFunctionType):
            self._inside(value, depth - 1)

    def _tensor(self, tensor, store, key):
        if id(tensor) not in self.tensors:
            self.tensors[id(tensor)] = tensor
            if store is not None:
                self.slots[id(tensor)] = store, key

    def _inside(self, value, depth=_DEEP):
        """Looks into a Layer, an optimizer, a container or a plain object."""
        if id(value) in self.seen:
            return
        if isinstance(value, ModuleBase):
            self._layer(value, depth)
        elif hasattr(type(value), "__paddle_jax_state__"):
            self._state(value)
        elif isinstance(value, list | tuple | dict) and len(value) <= _MANY:
            self.seen.add(id(value))
            if not isinstance(value, tuple):
                self.objects.append(value)
            for key, member in members(value):
                self._value(member, None if isinstance(value, tuple) else value, key, depth)
        elif callable(getattr(type(value), "__paddle_jax_function__", None)):
            self.function(value.__paddle_jax_function__(), depth)
        elif _is_plain(value):
            self.seen.add(id(value))
            self.owners.append(value)
            self.objects.append(value)
            for name, member in members(value.__dict__):
                self._value(member, value.__dict__, name, depth)

    def _layer(self, layer, depth):
        depth, settings = min(depth, 2), self.package_guards.settings
        for part in layer.sublayers(include_self=True):
            if id(part) in self.seen:
                continue
            self.seen.add(id(part))
            own, ours = part.__dict__, _is_ours(part)
            for store in map(own.__getitem__, _STORES):
                self.package_guards.parts.append((store, len(store)))
                for name, value in store.items():
                    self.package_guards.add(settings, store, name, value, id(value) in self.tensors)
                    if not isinstance(value, ModuleBase):
                        self._value(value, store, name, depth)
            if is_users(type(part).__module__):
                self.owners.append(part)
            for name, value in own.items():
                if ours and name != "_full_name" and type(value) in SCALARS:
                    settings.add(own, name, value, "?")
                elif name[0] != "_" or isinstance(value, Tensor):
                    self._value(value, own, name, depth)

    def _method(self, method):
        """Looks at a method or property of a class."""
        if isinstance(method, property):
            method = method.fget
        method = getattr(method, "__func__", method)  # of a classmethod or staticmethod
        self.function(
            method.__paddle_jax_function__() if hasattr(method, "__paddle_jax_function__") else method
        )

    def _state(self, owner):
        """Looks at what an optimizer, a scheduler or a scaler says that it depends on."""
        self.seen.add(id(owner))
        state = captured_state(owner)
        for store, name, value in state.values:
            self._value(value, store, name, 0)
        for store, name, value in state.settings:
            self.package_guards.add(self.package_guards.fixed, store, name, value)
        self.package_guards.lists += [(items, list(items)) for items in state.lists]
        for tensor in state.tensors:
            if id(tensor) in self.slots:  # the optimizer updates the Tensor that is there now
                store, key = self.slots[id(tensor)]
                table = (
                    self.package_guards.settings
                    if isinstance(store, AttributeStore)
                    else self.package_guards.fixed
                )
                table.add(store, key, tensor, "?")
            self._tensor(tensor, None, None)


def _is_ours(layer):
    """Whether a Layer is one of ours, or one of them made more special: then code of ours
    uses its attributes."""
    return next(cls for cls in type(layer).__mro__ if not is_users(cls.__module__)).__name__ not in _BARE


def _is_plain(value):
    """Whether it is an object of a class of the user's, whose attributes the function may use."""
    if not isinstance(getattr(value, "__dict__", None), dict):
        return False
    return is_users(type(value).__module__)


def _is_installed(file):
    """Whether code is that of an installed package, whose functions nobody replaces."""
    return isinstance(file, str) and ("site-packages" in file or "dist-packages" in file)
