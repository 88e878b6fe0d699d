"""The observer of a run: it turns each read of Python state into a guard."""

from __future__ import annotations

import argparse
import array
import builtins
import collections
import collections.abc
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
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import jax
import numpy as np

from paddle_jax._core.base.caller_info import OURS, is_users, package_of
from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.base.state import Observing, local
from paddle_jax._core.execution.module_protocol import ModuleBase
from paddle_jax._core.execution.python_state import CONTAINERS, MISSING, stores_of
from paddle_jax._core.tensors.tensor import Parameter, Tensor
from paddle_jax._program.capture.capture import refuse_possible_outside
from paddle_jax._program.guards.call_signature import dense_parts
from paddle_jax._program.guards.observed_calls import _KNOWN, CallObserver
from paddle_jax._program.guards.read_guards import ReadGuards, ReadTable, TooLarge, elements_of
from paddle_jax.autograd.py_layer import PyLayerContext

if TYPE_CHECKING:
    from paddle_jax._program.capture.unobserved_code import CodeRecorder

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), range, slice, np.generic)
# values whose content nobody reads through the value itself
_WITHOUT_CONTENT = (
    *PLAIN,
    Tensor,
    jax.Array,
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.CodeType,
)
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
# objects of these classes never change
_CONSTANT_TYPES = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.tzinfo,
    pathlib.PurePath,
    uuid.UUID,
)
# modules of ours: classes that hold settings
_SETTINGS_MODULES = ("distribution", "nn.clip", "nn.initializer", "regularizer", "vision.transforms")
STREAM = (
    "it uses the iterator or file {!r}, which would happen while compiling only; "
    "pass in what is taken from it"
)
_MAX_ITEMS = 4096  # items of a container that are compared at each call
_SLOT_TYPES = types.MemberDescriptorType | types.GetSetDescriptorType
_MAX_DEPTH = 12


class StateObserver(CallObserver):
    """Observes one run of user code, and collects guards for what it reads.

    Attributes:
        has_slot: function (Tensor, store, key) that says whether each call looks the Tensor up there.
        guarded_layers: ids of the Layers that `package_guards.py` compares.
        layer_forwards: table of PackageGuards for the `forward` of these Layers, or None.
        created: {id: object} of those that the run has made.
        outer_containers: {id: container} of those from outside.
        changed_containers: {id: (container, copy before the change)} of those whose items the run sets.
        set_attributes: set of (id, name) of the attributes that the run sets.
        guards: ReadGuards of what was read.
        reason: str, why not all reads are guarded, or None.
        observed_codes: set of the code objects that are observed.
        observed_functions: {id: (function, its observed form)}.
        converted: bool, whether control flow is converted; `converted_call` then enters user functions.
        held_objects: list of objects that must live as long as the run, since their ids are kept.
        being_read: ids of the containers whose content is being read.
        thread: identifier of the observed thread.
        capture: Capture of the run, None before it begins.
    """

    def __init__(
        self,
        has_slot: Callable[[Tensor, Any, Any], bool],
        guarded_layers: Collection[int],
        created: Iterable[Any] = (),
        converted: bool = False,
        layer_forwards: ReadTable | None = None,
    ) -> None:
        self.has_slot = has_slot
        self.guarded_layers = guarded_layers
        self.layer_forwards = layer_forwards
        self.created: dict[int, Any] = {id(value): value for value in created}
        self.outer_containers: dict[int, Any] = {}
        self.changed_containers: dict[int, tuple[Any, Any]] = {}
        self.set_attributes: set[tuple[int, str]] = set()
        self.guards = ReadGuards()
        self.reason: str | None = None
        self.observed_codes: set[types.CodeType] = set()
        self.observed_functions: dict[int, tuple[types.FunctionType, types.FunctionType]] = {}
        self.converted = converted
        self.held_objects: list[Any] = []
        self.being_read: set[int] = set()
        self.thread: int | None = None
        self.capture: Any = None

    def begin(self) -> None:
        """Observes from now on, in this thread."""
        self.thread = threading.get_ident()
        Observing.observer = self

    def end(self) -> None:
        """Observes no longer."""
        Observing.observer = None

    def is_current_thread(self) -> bool:
        """Whether this thread is the one observed."""
        return self.thread == threading.get_ident()

    def finish(self, usage: CodeRecorder) -> None:
        """After the run: finds out whether code of the user has run unobserved, and lets go of what
        belongs to the run.

        Raises:
            Unsupported: the run itself has changed what it rests on.
        """
        other = next((code for code in usage.codes if code not in self.observed_codes), None)
        if not usage.known:
            self.mark_unguarded("a profiler or debugger is at work")
        elif other is not None:
            self.mark_unguarded(
                f"{other.co_qualname} ({other.co_filename}:{other.co_firstlineno}) runs unobserved"
            )
        self.guards.drop_changed(self.changed_containers)
        self.created = {}
        self.outer_containers = {}
        self.changed_containers = {}
        self.held_objects, self.observed_functions, self.set_attributes = [], {}, set()
        # A guard that fails right after the run would compile the function at each call.
        change = self.guards.check() if self.reason is None else None
        if change is not None:
            raise Unsupported(
                f"it changes what it reads ({change}), which would happen while "
                "compiling only; keep it in a Tensor, or return it"
            )

    def refuse(self, why: str) -> NoReturn:
        """Ends the run, before it does what cannot be done again.

        Raises:
            Unsupported: always; code of the user that catches it does not change that.
        """
        error = Unsupported(why)
        self.reason = self.reason or why
        local.ctx.frame.on_refusal(error)
        raise error

    def mark_unguarded(self, why: str) -> None:
        """Notes that something is read without being observed."""
        self.reason = self.reason or why

    # values -------------------------------------------------------------------------------------------------

    def read_value(
        self, value: Any, store: Any = None, key: Any = None, table: ReadTable | None = None
    ) -> Any:
        """A value that was found outside. table: where the fact goes, unless it is a Tensor that is looked up
        again at each call."""
        if table is not None and not (isinstance(value, Tensor) and self.has_slot(value, store, key)):
            table.add(store, key, value)
        self._mark_outer(value)
        if isinstance(value, np.ndarray | np.void):
            self._read_array(value)
        elif isinstance(value, io.IOBase | collections.abc.Iterator) and id(value) not in self.created:
            self.refuse(STREAM.format(key))
        return value

    def _mark_outer(self, container: Any) -> None:
        """Notes a container from outside."""
        if isinstance(container, CONTAINERS) and id(container) not in self.created:
            self.outer_containers[id(container)] = container

    def is_outside(self, owner: Any) -> bool:
        """Whether a container or object is not one that the run has made."""
        met = id(owner) in self.outer_containers or not isinstance(owner, CONTAINERS)
        return met and id(owner) not in self.created

    def _read_array(self, array: np.ndarray | np.void) -> None:
        """Guards a NumPy array, or a record, which is a view of the array that it was taken from."""
        try:
            if id(array) not in self.created:
                self.guards.guard_array(np.asarray(array))
        except TooLarge:
            self.mark_unguarded(f"it uses a NumPy array of {array.nbytes >> 10} KiB from outside; pass it in")
        if isinstance(array, np.ma.MaskedArray):
            self._read_array(np.ma.getmaskarray(array))

    def read_global(self, scope: dict[str, Any], name: str, value: Any) -> Any:
        """A global variable, or a builtin."""
        if name in scope:
            return self.read_value(value, scope, name, self.guards.entries)
        # A builtin: the module may get a variable of that name later.
        self.guards.entries.add(scope, name, MISSING)
        return self.read_value(value, builtins.__dict__, name, self.guards.entries)

    def read_cell(self, cell: types.CellType, name: str, value: Any) -> Any:
        """A variable of an enclosing function."""
        return self.read_value(value, cell, name, self.guards.cells)

    def read_import(self, scope: dict[str, Any], names: Iterable[tuple[str, str | None]], level: int) -> None:
        """Modules and names that an import inside the function has bound."""
        package = "." * level
        for module, name in names:
            if level:
                import importlib.util

                module = importlib.util.resolve_name(package + module, scope.get("__package__") or "")
            self.guards.entries.add(sys.modules, module, sys.modules.get(module, MISSING))
            if name is not None and module in sys.modules:
                self.read_attribute(sys.modules[module], name)

    def mark_created(self, value: Any) -> Any:
        """A container that the function makes itself."""
        self.created[id(value)] = value
        return value

    # attributes ---------------------------------------------------------------------------------------------

    def read_attribute(self, owner: Any, name: str) -> Any:
        """`owner.name`."""
        kind = type(owner)
        if isinstance(owner, Tensor | jax.Array):
            own = getattr(owner, "__dict__", None)
            if own is not None and name in own:
                return self.read_value(own[name], own, name, self.guards.entries)
            return self._tensor_attribute(owner, kind, name, own)
        # Values of these classes have no attributes of the user; what the run has set is its own.
        if kind in (str, tuple, list, dict, set, int, float) or (id(owner), name) in self.set_attributes:
            return getattr(owner, name)
        if isinstance(owner, types.ModuleType):
            value = getattr(owner, name)
            if name in owner.__dict__:
                table = self.guards.entries
            else:
                table = self.guards.attributes
            return self.read_value(value, owner.__dict__ if name in owner.__dict__ else owner, name, table)
        if isinstance(owner, type):
            return self._class_object_attribute(owner, kind, name)
        if kind is super:
            classes = owner.__self_class__.__mro__
            self._class_attribute(classes[classes.index(owner.__thisclass__) + 1 :], name)
            return getattr(owner, name)
        if isinstance(owner, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
            return self._function_attribute(owner, name)
        return self._object_attribute(owner, kind, name)

    def _class_object_attribute(self, cls: type, kind: type, name: str) -> Any:
        if self.is_user_code(cls) and id(cls) not in self.created:
            self.guards.attributes.add(cls, "__mro__", cls.__mro__)
        own = self._class_attribute(cls.__mro__, name)
        if kind is not type:
            self._class_attribute(kind.__mro__, name)
        value = getattr(cls, name)
        if own is MISSING and not isinstance(value, types.MappingProxyType):
            table = self.guards.attributes
        else:
            table = None
        return self.read_value(value, cls, name, table)

    def guard_class(self, owner: Any) -> None:
        """The class of an object of the user's, and what that derives from."""
        kind = type(owner)
        if self.is_user_code(kind) and id(owner) not in self.created:
            self.guards.attributes.add(owner, "__class__", kind)
            self.guards.attributes.add(kind, "__mro__", kind.__mro__)

    def user_method(self, owner: Any, name: str) -> types.FunctionType | None:
        """A method of Python's protocols that the user has written for the class of an object, or None."""
        kind = type(owner)
        if not self.is_user_code(kind):
            return None
        self.guard_class(owner)
        method = self._class_attribute(kind.__mro__, name)
        if self.is_user_function(method):
            return method
        return None

    def _tensor_attribute(self, tensor: Any, kind: type, name: str, own: dict[Any, Any] | None) -> Any:
        """An attribute of a Tensor or array that is no attribute of its own: a method, or what its shape
        and the like tell."""
        if own is not None and id(tensor) not in self.created:
            self.guards.entries.add(own, name, MISSING)
        self._class_attribute(kind.__mro__, name)
        if name == "name":
            self._guard_name(tensor)
        if isinstance(tensor, Tensor) and self.capture is not None:
            for part in dense_parts(tensor):
                self.capture.used(part)
        return getattr(tensor, name)

    def _guard_name(self, tensor: Tensor) -> None:
        """The name of a Tensor: another one may be passed at the next call."""
        if isinstance(tensor, Parameter):
            self.guards.attributes.add(tensor, "name", tensor.name)
        elif id(tensor) in self.capture.tensors and not self.capture.full_graph:
            self.mark_unguarded("it reads the name of a tensor that is passed")

    def _function_attribute(self, function: Any, name: str) -> Any:
        value = getattr(function, name)
        if name not in ("__name__", "__qualname__", "__module__", "__self__", "__func__"):
            self.guards.attributes.add(function, name, value)
        return value

    def _class_attribute(self, classes: Iterable[type], name: str) -> Any:
        """The member of the first class that has the name, guarded; MISSING where none has it."""
        for cls in classes:
            value = self.guards.class_member(cls, name)
            if value is not MISSING:
                return value
        return MISSING

    def _object_attribute(self, owner: Any, kind: type, name: str) -> Any:
        """An attribute of an object that is no Tensor, module, class or function."""
        is_created = id(owner) in self.created
        own = getattr(owner, "__dict__", None)
        is_own = own is not None and name in own
        if not is_own and isinstance(owner, ModuleBase) and id(owner) in self.guarded_layers:
            for store in stores_of(owner):  # PackageGuards compare them when an attribute of a Layer was set
                if name in store:
                    return self.read_value(store[name], store, name)
        if is_own and self.capture is not None and id(owner) in self.capture.objects:
            self.refuse_after_effect(f"{kind.__name__}.{name}")
        self.guard_class(owner)
        if is_created and is_own:
            member = inspect.getattr_static(kind, name, MISSING)
        else:
            member = self._class_attribute(kind.__mro__, name)
        computed = self._computed_attribute(owner, kind, name, member, own)
        if computed is not MISSING:
            return computed
        if is_created:
            return getattr(owner, name)
        return self._outside_attribute(owner, kind, name, member, own)

    def _outside_attribute(
        self, owner: Any, kind: type, name: str, member: Any, own: dict[Any, Any] | None
    ) -> Any:
        """An attribute of an object from outside, which is stored in the object or in its class.

        Args:
            owner: the object.
            kind: its class.
            name: of the attribute.
            member: what the class has under the name, MISSING for nothing.
            own: the `__dict__` of the object, or None.
        """
        # a slot, a property and the like, which come before the attributes of the object itself
        is_data_descriptor = hasattr(type(member), "__set__")
        if own is not None and not is_data_descriptor:
            self._guard_instance_attribute(owner, name)
        try:
            value = getattr(owner, name)
        except AttributeError:
            if own is None:
                self.guards.attributes.add(owner, name, MISSING)
            raise
        if (own is None or is_data_descriptor) and not callable(value):
            if self.is_user_code(kind) or isinstance(value, PLAIN):
                self.guards.attributes.add(owner, name, value)
        return self.read_value(value, own, name)

    def refuse_after_effect(self, what: str) -> NoReturn:
        """Refuses to read what a scheduler's step in the run has changed: at each call it is what that
        step makes of it."""
        self.refuse(
            f"{what} is used after scheduler.step(); call scheduler.step() at the end of the function"
        )

    def _guard_instance_attribute(self, owner: Any, name: str) -> None:
        """Guards whether an object has an attribute of its own, and its value."""
        if isinstance(owner, ModuleBase):
            stores = stores_of(owner)
        else:
            stores = [owner.__dict__]
        store = next((store for store in stores if name in store), owner.__dict__)
        if name != "forward":
            value = store.get(name, MISSING)
        else:
            value = self.instance_forward(store)
        if not (isinstance(value, Tensor) and self.has_slot(value, store, name)):
            self.guards.entries.add(store, name, value)

    def _computed_attribute(
        self, owner: Any, kind: type, name: str, raw: Any, own: dict[Any, Any] | None
    ) -> Any:
        """The value of a property, descriptor or `__getattr__` of the user; MISSING where there is none."""
        if self.is_user_function(inspect.getattr_static(kind, "__getattribute__", None)):
            self.mark_unguarded(f"{kind.__name__} has __getattribute__")
            return MISSING
        if isinstance(raw, property):
            return self.call(raw.fget, (owner,), {}) if self.is_user_function(raw.fget) else MISSING
        if own is not None and name in own:
            return MISSING
        if raw is MISSING:
            getter = inspect.getattr_static(kind, "__getattr__", None)
            if self.is_user_function(getter):
                self._class_attribute(kind.__mro__, "__getattr__")
                if own is not None:
                    self.guards.entries.add(own, name, MISSING)
                return self.call(getter, (owner, name), {})
        # As `cached_property` does it. The run restores the dict of the object afterwards.
        elif type(raw).__name__ == "cached_property" and self.is_user_function(raw.func):
            value = self.call(raw.func, (owner,), {})
            owner.__dict__[name] = value
            self.set_attributes.add((id(owner), name))
            return value
        elif self.is_user_function(getattr(type(raw), "__get__", None)):
            if own is not None and not hasattr(type(raw), "__set__") and id(owner) not in self.created:
                self.guards.entries.add(own, name, MISSING)
            return self.call(type(raw).__get__, (raw, owner, kind), {})
        return MISSING

    def before_set_attribute(self, owner: Any, name: str) -> Any:
        """Called before `owner.name` is set or deleted."""
        if isinstance(owner, PyLayerContext):
            self.mark_created(owner)
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
            and self._stores_elsewhere(owner, name)
        ):
            self.refuse(
                f"the attribute {name!r} of a {type(owner).__name__} is set, which keeps it "
                "elsewhere than other objects do, and which would happen while compiling only; "
                "return its value"
            )
        if isinstance(owner, Tensor):
            refuse_possible_outside(owner, self.capture)
            return owner
        self.set_attributes.add((id(owner), name))
        self.held_objects.append(owner)
        if not isinstance(owner, ModuleBase):  # which tells by itself
            local.ctx.frame.on_object_change(owner)
        return owner

    def _stores_elsewhere(self, owner: Any, name: str) -> bool:
        """Whether an attribute does not go into the dict of an object, from where it could be taken out
        again: a slot, an own `__setattr__`."""
        kind = type(owner)
        return (
            not isinstance(getattr(owner, "__dict__", None), dict)
            or isinstance(inspect.getattr_static(kind, name, None), _SLOT_TYPES)
            or self.is_user_function(inspect.getattr_static(kind, "__setattr__", None))
        )

    def before_update_attribute(self, owner: Any, name: str) -> Any:
        """Called before `owner.name` is changed by `+=` and the like."""
        if not isinstance(owner, Tensor):
            self.read_attribute(owner, name)
        return self.before_set_attribute(owner, name)

    # items and content --------------------------------------------------------------------------------------

    def read_item(self, container: Any, key: Any) -> Any:
        """`container[key]`."""
        kind = type(container)
        if (
            id(container) in self.created
            or isinstance(container, (*PLAIN, Tensor, jax.Array))
            and not isinstance(container, np.void)
            or kind in (tuple, types.GenericAlias)
            or isinstance(container, type)
        ):
            # What the run has made, and what cannot change.
            known: Any = container
            return self.read_value(known[key]) if kind is tuple else known[key]
        getter = self.user_method(container, "__getitem__")
        if getter is not None:
            return self.call(getter, (container, key), {})
        if isinstance(container, np.ndarray | np.void):
            self._read_array(container)
            if container.dtype.hasobject:
                return self.read_value(container[key])
            return container[key]
        if kind is list and isinstance(key, int):
            return self.read_value(container[key], container, key, self.guards.items)
        if isinstance(container, dict) and key in container:
            return self.read_value(container[key], container, key, self.guards.entries)
        if isinstance(container, type(os.environ)):
            self.guards.guard_result(
                lambda: container.get(key), f"the environment variable {key}", (id(container), key)
            )
            return container[key]
        if isinstance(container, types.MappingProxyType):
            self.guards.members.add(container, key, container.get(key, MISSING))
            return container[key]
        self.read_content(container)
        value = container[key]
        return self.mark_created(value) if isinstance(key, slice) else value

    def before_set_item(self, container: Any) -> Any:
        """Called before an item is set or deleted. What is read of the container from now on is what the
        run has made of it."""
        # From here on the content is the run's.
        if not isinstance(container, Tensor) and self._changes_outside(container):
            if type(container) in (dict, list):
                before = copy.copy(container)
            else:
                before = container
            self.changed_containers[id(container)] = container, before
            self.mark_created(container)
        return container

    def _changes_outside(self, container: Any) -> bool:
        """Whether what changes is from outside. There it must be a plain container."""
        outside = id(container) not in self.created
        if outside and not isinstance(container, CONTAINERS):
            if isinstance(container, np.ndarray):
                kind = "NumPy array"
            else:
                kind = type(container).__name__
            self.refuse(
                f"a {kind} from outside the function is changed, which would happen while compiling "
                "only; return its values"
            )
        local.ctx.frame.on_object_change(container)
        return outside

    def augmented_operand(self, target: Any, operand: Any) -> Any:
        """The operand of `target += operand` and the like, where `target` is a variable."""
        if isinstance(target, CONTAINERS):
            local.ctx.frame.on_object_change(target)
        return self.read_operand(operand)

    def operator_result(self, value: Any) -> Any:
        """The result of an operator."""
        if isinstance(value, CONTAINERS):
            return self.mark_created(value)
        return value

    def before_update_item(self, container: Any) -> Any:
        """Called before an item is changed by `+=` and the like."""
        if not isinstance(container, Tensor):
            self._changes_outside(container)
            self.read_content(container)
        return container

    def read_content(self, value: Any, objects: bool = True, depth: int = 0) -> Any:
        """Guards the whole content of a value, for code that may read all of it.

        Args:
            value: any object, which is returned.
            objects: whether the attributes of user objects count, besides items of nested containers.
            depth: level of containers around it.
        """
        if isinstance(value, _WITHOUT_CONTENT) and not isinstance(value, np.void):
            return value
        if depth > _MAX_DEPTH:
            self.mark_unguarded("containers are nested too deep")
        elif isinstance(value, np.ndarray | np.void):
            self._read_array_content(value, objects, depth)
        elif isinstance(value, tuple | frozenset):  # the parts may change, the container cannot
            for part in value:
                self.read_content(part, objects, depth + 1)
        elif isinstance(value, _CONTAINERS):
            self._mark_outer(value)
            self._read_members(value, id(value) in self.created, objects, depth)
        elif isinstance(value, bytearray | memoryview | array.array):
            self.guards.guard_content(value, lambda: bytes(value), f"a {type(value).__name__}")
        elif isinstance(value, type(os.environ)):
            self.guards.guard_content(value, lambda: dict(value), "the environment")
        else:
            self._read_object_content(value, objects, depth)
        return value

    def _read_array_content(self, array: np.ndarray | np.void, objects: bool, depth: int) -> None:
        """Guards the elements of an array, and what these contain. The arguments are those of
        read_content."""
        self._read_array(array)
        if array.dtype.hasobject:
            self.read_content(elements_of(np.asarray(array)), objects, depth + 1)
        if self.is_user_code(type(array)):  # a subclass may have attributes besides its elements
            self._read_object_content(array, objects, depth)

    def _read_object_content(self, owner: Any, objects: bool, depth: int) -> None:
        """Guards the content of an object that is no container. The arguments are those of read_content."""
        kind = type(owner)
        if self._is_settings_object(owner) or isinstance(owner, argparse.Namespace):
            self._read_members(owner.__dict__, id(owner) in self.created, objects, depth)
        elif objects and self._has_readable_attributes(owner):
            self._read_object(owner, objects, depth)
        elif id(owner) not in self.created and not self._is_constant(owner):
            self.mark_unguarded(f"it looks into a {kind.__module__}.{kind.__name__} from outside")

    def _has_readable_attributes(self, owner: Any) -> bool:
        """Whether the attributes of an object are its content. Those of a Layer have guards of their own."""
        if isinstance(owner, types.SimpleNamespace):
            return True
        return self.is_user_code(type(owner)) and not isinstance(owner, ModuleBase)

    def _read_object(self, owner: Any, objects: bool, depth: int) -> None:
        """The attributes of an object of the user's, and those that its classes have for it."""
        own = getattr(owner, "__dict__", None)
        if own is not None:
            self._read_members(own, id(owner) in self.created, objects, depth)
        for cls in type(owner).__mro__:
            for name, member in (
                list(cls.__dict__.items())
                if self.is_user_code(cls) and id(cls) not in self.being_read
                else ()
            ):
                if name[:2] != "__" and not callable(member) and not hasattr(type(member), "__get__"):
                    self.guards.class_member(cls, name)
                    self.read_content(member, objects, depth + 1)

    def _is_constant(self, owner: Any) -> bool:
        """Whether an object of Python's own, or of a library, stays what it is, or is looked
        after elsewhere."""
        if isinstance(owner, np.ndarray):  # one with more than its elements
            return False
        root = package_of(type(owner).__module__)
        return root in _KNOWN or self.is_user_code(type(owner)) or isinstance(owner, _CONSTANT_TYPES)

    def _is_settings_object(self, owner: Any) -> bool:
        """Whether an object of ours is its settings, which its user may change: a
        distribution, an initializer."""
        root, _, module = type(owner).__module__.partition(".")
        return root in OURS and module.startswith(_SETTINGS_MODULES)

    def _read_members(self, container: Any, created: bool, objects: bool, depth: int) -> None:
        if id(container) in self.being_read or not (created or self._guard_items(container)):
            return
        self.being_read.add(id(container))
        for part in list(container.values() if isinstance(container, _MAPPINGS) else container):
            self.read_content(part, objects, depth + 1)
        self.being_read.discard(id(container))

    def _guard_items(self, container: Any) -> bool:
        """Notes which items a container has. Returns whether they can be compared at each call."""
        if len(container) > _MAX_ITEMS:
            self.mark_unguarded(
                f"it goes through a {type(container).__name__} of {len(container)} items from outside"
            )
            return False
        if isinstance(container, set):
            self.guards.guard_content(container, lambda: frozenset(container), "a set")
        else:
            read = (
                (lambda: tuple(container.items()))
                if isinstance(container, _MAPPINGS)
                else (lambda: tuple(container))
            )
            self.guards.guard_content(container, read, f"the content of a {type(container).__name__}")
        return True

    def read_mapping(self, mapping: Any) -> Any:
        """A mapping whose items become those of another one."""
        if not isinstance(mapping, _MAPPINGS):
            return self.read_content(mapping)
        if id(mapping) not in self.created and self._guard_items(mapping):
            for part in mapping.values():
                self.read_value(part)
        return mapping

    def read_iterable(self, value: Any) -> Any:
        """A value that code iterates over."""
        if isinstance(value, (*PLAIN, Tensor, types.GeneratorType)) or id(value) in self.created:
            return value
        getter = self.user_method(value, "__iter__")
        if getter is not None:
            return self.call(getter, (value,), {})
        if isinstance(value, ModuleBase):
            self._guard_instance_attribute(value, "_sub_layers")
            return value
        return self.read_content(value, objects=False)

    def read_pairs(self, value: Any) -> Any:
        """A value that code iterates over, and whose items it unpacks."""
        if isinstance(value, (tuple, *CONTAINERS)):
            return self.read_content(value, objects=False)
        return value

    def read_truth(self, value: Any) -> Any:
        """A value that code tests for its truth."""
        for name in ("__bool__", "__len__"):
            method = self.user_method(value, name)
            if method is not None:
                return bool(self.call(method, (value,), {}))
        if isinstance(value, collections.abc.Sized) and not isinstance(value, type):
            self.read_length(value)
        return value

    def read_length(self, value: Any) -> None:
        """Guards the number of items of a value."""
        if (
            not isinstance(value, (*PLAIN, tuple, Tensor))
            and id(value) not in self.created
            and hasattr(value, "__len__")
        ):
            self.guards.guard_result(
                lambda: len(value), f"the length of a {type(value).__name__}", (id(value), "len"), value
            )

    def read_operand(self, value: Any) -> Any:
        """An operand of an operator."""
        return self.read_content(value, objects=False)

    @staticmethod
    def is_user_code(scope: Any) -> bool:
        """Whether a class, or the module of a name, is the user's (or of a library on top of Paddle)."""
        return is_users(scope if isinstance(scope, str) else getattr(scope, "__module__", None) or "")
