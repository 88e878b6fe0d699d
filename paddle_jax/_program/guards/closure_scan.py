"""The scan for Tensors and other state that a function reaches without arguments.

It finds where each call has to look up the Tensors, and what of Layers and optimizers must stay the same.
"""

from __future__ import annotations

import collections
import functools as ft
import random
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from paddle_jax._core.base.caller_info import LIBRARIES, is_users, package_of
from paddle_jax._core.execution.module_protocol import AttributeStore, ModuleBase, captured_state
from paddle_jax._core.execution.python_state import MISSING, SCALARS, Snapshot, members, variables_of
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.guards.package_guards import PackageGuards

_MAX_DEPTH = 4  # levels of functions, containers and plain objects that are scanned
_MODULE_DEPTH = 2  # the same for attributes of Layers and variables of modules
_MAX_ITEMS = 4096  # items of a list or dict that is scanned
_STORES = ("_parameters", "_buffers", "_sub_layers", "_forward_pre_hooks", "_forward_post_hooks")
# classes of this package that users derive from to write a Layer
_BARE_LAYERS = ("Layer", "Sequential", "LayerList", "LayerDict", "ParameterList", "ParameterDict")


class ClosureScan:
    """The state that a function reaches.

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

    def __init__(self, function: Any, others: Iterable[Any] = ()) -> None:
        self.tensors: dict[int, Tensor] = {}
        self.slots: dict[int, tuple[Any, Any]] = {}
        self.package_guards = PackageGuards()
        self.objects: list[Any] = []
        self.snapshot = Snapshot()
        self.generators: list[Any] = []
        self.seen: set[Any] = set()
        self.names = {"forward", "__call__"}
        self.owners: list[Any] = []
        self._scan_function(function)
        for value in others:
            self._scan_inside(value)
        self._scan_named_members()

    def has_slot(self, tensor: Tensor, store: Any, key: Any) -> bool:
        """Whether each call looks up a Tensor at `store[key]`."""
        slot = self.slots.get(id(tensor))
        return slot is not None and slot[0] is store and slot[1] == key

    # functions and modules ----------------------------------------------------------------------------------

    def _scan_function(self, function: Any, depth: int = _MAX_DEPTH) -> None:
        """Scans the closure, the defaults and the global variables of a function."""
        # The object of a method is what it reaches first.
        if isinstance(function, types.MethodType):
            self._scan_inside(function.__self__, depth)
            function = function.__func__
        # Wrappers of functools.wraps, such as to_static's.
        if not isinstance(function, types.FunctionType):
            function = getattr(function, "__wrapped__", function)
        if not isinstance(function, types.FunctionType) or id(function) in self.seen or not depth:
            return
        # Functions of libraries reach nothing of the user, but arguments.
        if package_of(function.__module__ or "") in LIBRARIES:
            return
        self.seen.add(id(function))
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._scan_value(default, None, None, depth)
        for scope, name, value in variables_of(function):
            self.snapshot.variables.append((scope, name, value))
            if value is not MISSING:
                # a cell is no container in which a call could look the value up
                self._scan_value(value, scope if isinstance(scope, dict) else None, name, depth)
        self._collect_names(function.__code__)

    def _scan_named_members(self) -> None:
        """Scans the methods and the variables of modules that the code names, until no new one is found."""
        # New owners bring new names, and new names show more of the owners.
        size = None
        while size != (len(self.names), len(self.owners)):
            size = len(self.names), len(self.owners)
            for owner in list(self.owners):
                if isinstance(owner, types.ModuleType):
                    self._scan_module(owner)
                elif not isinstance(owner, type):
                    self._scan_methods(type(owner))
        self.owners = []  # the scan keeps no object alive after it

    def _scan_methods(self, cls: type) -> None:
        for ancestor in cls.__mro__:
            for name, method in list(ancestor.__dict__.items()):
                if name in self.names:
                    self._scan_method(method)

    def _scan_method(self, method: Any) -> None:
        """Scans a method or property of a class."""
        if isinstance(method, property):
            method = method.fget
        method = getattr(method, "__func__", method)  # of a classmethod or staticmethod
        if hasattr(method, "__paddle_jax_function__"):
            method = method.__paddle_jax_function__()
        self._scan_function(method)

    def _scan_module(self, module: types.ModuleType) -> None:
        """Scans the variables of a user's module that the code names."""
        variables = module.__dict__
        # An installed package has thousands of variables, and nobody changes them.
        if _is_installed(variables.get("__file__")):
            return
        for name in [name for name in variables if name in self.names]:
            if (id(module), name) not in self.seen:
                self.seen.add((id(module), name))
                self._scan_value(variables[name], variables, name, _MODULE_DEPTH)

    def _collect_names(self, code: types.CodeType) -> None:
        self.names.update(code.co_names)
        # Attributes may be read by a text: `getattr(self, "rate")`.
        self.names.update([text for text in code.co_consts if type(text) is str])
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):  # functions and comprehensions inside
                self._collect_names(constant)

    # values -------------------------------------------------------------------------------------------------

    def _scan_value(self, value: Any, store: Any, key: Any, depth: int) -> None:
        """Scans one value.

        Args:
            value: any object.
            store: container in which each call looks the value up, or None where it does not change.
            key: its key in the store.
            depth: levels below it that are scanned.
        """
        if type(value) in SCALARS:
            return
        if isinstance(value, set | collections.deque):
            self._add_collection(value)
        elif isinstance(value, np.random.Generator | np.random.RandomState | random.Random):
            self.generators.append(value)
        elif isinstance(value, Tensor) and not value.is_sparse():  # a sparse one is an object made of several
            self._add_tensor(value, store, key)
        elif isinstance(value, types.FunctionType | types.MethodType):
            self._scan_function(value, depth - 1)
        # What a partial holds cannot be looked up by a key; the parts themselves are scanned.
        elif isinstance(value, ft.partial):
            for part in (value.func, value.args, value.keywords):
                self._scan_value(part, None, None, depth - 1)
        elif isinstance(value, type | types.ModuleType):
            self._add_owner(value)
        elif depth and not isinstance(value, types.BuiltinFunctionType):
            self._scan_inside(value, depth - 1)

    def _add_collection(self, collection: set[Any] | collections.deque[Any]) -> None:
        """Remembers a set or deque, whose items no call can look up."""
        if len(collection) <= _MAX_ITEMS and id(collection) not in self.seen:
            self.seen.add(id(collection))
            self.objects.append(collection)

    def _add_owner(self, owner: type | types.ModuleType) -> None:
        """Remembers a class or module of the user, whose members the code may name."""
        if isinstance(owner, types.ModuleType):
            module = owner.__name__
        else:
            module = owner.__module__
        if id(owner) not in self.seen and is_users(module):
            self.seen.add(id(owner))
            self.owners.append(owner)

    def _add_tensor(self, tensor: Tensor, store: Any, key: Any) -> None:
        if id(tensor) in self.tensors:
            return
        # The first place counts: a Tensor in two places is one operand.
        self.tensors[id(tensor)] = tensor
        if store is not None:
            self.slots[id(tensor)] = store, key

    def _scan_inside(self, value: Any, depth: int = _MAX_DEPTH) -> None:
        """Scans the parts of a Layer, an optimizer, a container or a plain object."""
        if id(value) in self.seen:
            return
        if isinstance(value, ModuleBase):
            self._scan_layer(value, depth)
        # An optimizer, a scheduler or a scaler says what its state is.
        elif hasattr(type(value), "__paddle_jax_state__"):
            self._scan_state(value)
        elif callable(getattr(type(value), "__paddle_jax_function__", None)):
            self._scan_function(value.__paddle_jax_function__(), depth)
        elif isinstance(value, list | tuple | dict) and len(value) <= _MAX_ITEMS:
            self._scan_container(value, depth)
        elif _is_plain_object(value):
            self.seen.add(id(value))
            self.owners.append(value)
            self.objects.append(value)
            for name, member in members(value.__dict__):
                self._scan_value(member, value.__dict__, name, depth)

    def _scan_container(self, container: list[Any] | tuple[Any, ...] | dict[Any, Any], depth: int) -> None:
        self.seen.add(id(container))
        # A tuple cannot get another item, so its Tensors need no look-up.
        store = None if isinstance(container, tuple) else container
        if store is not None:
            self.objects.append(store)
        for key, member in members(container):
            self._scan_value(member, store, key, depth)

    def _scan_layer(self, layer: ModuleBase, depth: int) -> None:
        """Scans a Layer and the Layers below it."""
        # Layers nest deeply, and their own attributes rarely hold further state.
        depth = min(depth, _MODULE_DEPTH)
        for part in layer.sublayers(include_self=True):
            if id(part) in self.seen:
                continue
            self.seen.add(id(part))
            for store in map(part.__dict__.__getitem__, _STORES):
                self._scan_store(store, depth)
            # Methods of the user's Layers may read anything; ours are known.
            if is_users(type(part).__module__):
                self.owners.append(part)
            self._scan_layer_attributes(part, depth)

    def _scan_store(self, store: AttributeStore, depth: int) -> None:
        guards = self.package_guards
        # A parameter that is added or removed changes the size.
        guards.store_sizes.append((store, len(store)))
        for name, value in store.items():
            guards.add(guards.layer_settings, store, name, value, id(value) in self.tensors)
            if not isinstance(value, ModuleBase):
                self._scan_value(value, store, name, depth)

    def _scan_layer_attributes(self, layer: ModuleBase, depth: int) -> None:
        attributes = layer.__dict__
        has_package_code = _has_package_code(layer)
        for name, value in attributes.items():
            # `_full_name` names parameters when they are made, and nothing reads it in a run.
            if has_package_code and name != "_full_name" and type(value) in SCALARS:
                self.package_guards.layer_settings.add(attributes, name, value, "?")
            elif name[0] != "_" or isinstance(value, Tensor):
                self._scan_value(value, attributes, name, depth)

    def _scan_state(self, owner: Any) -> None:
        """Scans the CapturedState of an optimizer, a scheduler or a scaler."""
        self.seen.add(id(owner))
        guards = self.package_guards
        state: Any = captured_state(owner)
        for store, name, value in state.values:
            self._scan_value(value, store, name, 0)
        for store, name, value in state.settings:
            guards.add(guards.optimizer_settings, store, name, value)
        guards.lists += [(items, list(items)) for items in state.lists]
        for tensor in state.tensors:
            # The optimizer updates the Tensor that it holds, while the Layer may have got another one.
            if id(tensor) in self.slots:  # the optimizer updates the Tensor that is there now
                store, key = self.slots[id(tensor)]
                is_layer_store = isinstance(store, AttributeStore)
                if is_layer_store:
                    table = guards.layer_settings
                else:
                    table = guards.optimizer_settings
                table.add(store, key, tensor, "?")
            self._add_tensor(tensor, None, None)


def _has_package_code(layer: ModuleBase) -> bool:
    """Whether code of this package reads the attributes of a Layer: not of a class that users write whole."""
    package_class = next(cls for cls in type(layer).__mro__ if not is_users(cls.__module__))
    # Below these classes no code of this package reads settings of the Layer.
    return package_class.__name__ not in _BARE_LAYERS


def _is_plain_object(value: Any) -> bool:
    """Whether the class of an object is the user's, so that the function may use its attributes."""
    return isinstance(getattr(value, "__dict__", None), dict) and is_users(type(value).__module__)


def _is_installed(file: Any) -> bool:
    """Whether code is that of an installed package, whose functions nobody replaces."""
    return isinstance(file, str) and ("site-packages" in file or "dist-packages" in file)
