"""What a function can reach without being passed it: Tensors (with the place where they are found anew at each call) and values it may depend on."""

import sys
import types

from paddle_jax._core.state import Changes
from paddle_jax._core.tensor import Tensor
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.optimizer.lr.scheduler import LRScheduler
from paddle_jax.optimizer.optimizer import Optimizer

MISSING = object()
_SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None)})
_DEEP = 4  # levels of functions, containers and plain objects that are looked into
_MANY = 4096  # items of a list or dict that are looked at
_OURS = ("paddle_jax", "jax", "jaxlib", "numpy", "flax", "optax", "scipy")


class Reach:
    """What was found.

    slots: {id of Tensor: (dict, key) where it is found}; tensors: the Tensors. values: [(dict, key, value)] that must stay the same; settings: the
    same of Layers, which are compared only when an attribute of some Layer has changed. cells: [(cell, value)].

    objects: plain objects and containers whose content the function may change. variables: [(cell or dict, name, value)] of those that it sees.

    Of the user's own objects only attributes count whose names stand in the code that may run: a counter of the training loop does not matter.
    names: those names; owners: [(object, its list of values)], while looking.
    """

    def __init__(self, function, others=()):
        self.slots, self.tensors, self.values, self.settings, self.cells = {}, [], [], [], []
        self.objects, self.variables = [], []
        self.seen, self.changes, self.names, self.owners = set(), Changes.count, {"forward", "__call__", "training"}, []
        self.function(function)
        for thing in others:
            self.thing(thing)
        self._finish()

    def holds(self):
        """Whether all values are still those that were found."""
        for store, key, value in self.values:
            now = store.get(key, MISSING)
            if now is not value and not _equal(now, value):
                return False
        for cell, value in self.cells:
            now = content_of(cell)
            if now is not value and not _equal(now, value):
                return False
        if self.changes != Changes.count:
            count = Changes.count
            for store, key, value in self.settings:
                now = store.get(key, MISSING)
                if now is not value and not _equal(now, value):
                    return False
            self.changes = count
        return True

    def changed(self):
        """The name and the old and new value of what no longer holds."""
        for store, key, value in (*self.values, *self.settings):
            now = store.get(key, MISSING)
            if now is not value and not _equal(now, value):
                return f"{key} was {value!r} and is {now!r}"
        return "a variable of an enclosing function has changed"

    def rebound(self):
        """Puts back variables of enclosing functions and globals that have been assigned; returns their names."""
        found = []
        for place, name, before in self.variables:
            now = place.get(name, MISSING) if isinstance(place, dict) else content_of(place)
            if now is not before and not _equal(now, before):
                found.append(name)
                if isinstance(place, dict):
                    place[name] = before
                elif before is MISSING:
                    del place.cell_contents
                else:
                    place.cell_contents = before
        return found

    # walking ------------------------------------------------------------------------------------------------------

    def function(self, function, depth=_DEEP):
        """Looks at the closure, the defaults and the globals of a function."""
        if isinstance(function, types.MethodType):
            self.thing(function.__self__, depth)
            function = function.__func__
        function = getattr(function, "__wrapped__", function) if not isinstance(function, types.FunctionType) else function
        if not isinstance(function, types.FunctionType) or id(function) in self.seen or not depth:
            return
        if (function.__module__ or "").partition(".")[0] in _OURS:
            return
        self.seen.add(id(function))
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            content = content_of(cell)
            self.variables.append((cell, name, content))
            if type(content) in _SCALARS:
                self.cells.append((cell, content))
            elif content is not MISSING:
                self._item(content, None, None, depth)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._item(default, None, None, depth)
        self._names(function.__code__, function.__globals__, depth)

    def _finish(self):
        """Reads the methods that may be called, and then the attributes of the user's objects that the code names."""
        known = -1
        while known != len(self.names):
            known = len(self.names)
            for kind in {type(owner) for owner, _ in self.owners}:
                for cls in kind.__mro__:
                    for name, method in list(cls.__dict__.items()):
                        if name in self.names:
                            self._method(method)
        for owner, found in self.owners:
            own = owner.__dict__
            found += [(own, name, value) for name, value in own.items() if type(value) in _SCALARS and self._named(name)]
        self.owners = []  # not kept alive

    def _named(self, name):
        return name in self.names or "getattr" in self.names and name != "_full_name"

    def _names(self, code, scope, depth):
        self.names.update(code.co_names)
        for name in code.co_names:
            if name in scope:
                self.variables.append((scope, name, scope[name]))
                self._item(scope[name], scope, name, depth)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):  # functions and comprehensions inside
                self._names(constant, scope, depth)

    def _item(self, value, store, key, depth):
        """Looks at one value; `store[key]` is where it was found, if that can change."""
        kind = type(value)
        if kind in _SCALARS:
            if store is not None:
                self.values.append((store, key, value))
        elif isinstance(value, Tensor):
            self._tensor(value, store, key)
        elif isinstance(value, types.FunctionType | types.MethodType):
            self.function(value, depth - 1)
        elif depth and not isinstance(value, type | types.ModuleType | types.BuiltinFunctionType):
            self.thing(value, depth - 1)

    def _tensor(self, tensor, store, key):
        if id(tensor) not in self.slots:
            self.slots[id(tensor)] = (store, key)
            self.tensors.append(tensor)

    def thing(self, value, depth=_DEEP):
        """Looks into a Layer, an optimizer, a container or a plain object."""
        if id(value) in self.seen:
            return
        if isinstance(value, Layer):
            self._layer(value, depth)
        elif isinstance(value, Optimizer):
            self._optimizer(value)
        elif isinstance(value, list | tuple | dict) and len(value) <= _MANY:
            self.seen.add(id(value))
            if not isinstance(value, tuple):
                self.objects.append(value)
            store = value if isinstance(value, dict) else None
            for key, item in list(value.items() if store is not None else enumerate(value)):
                if type(item) not in _SCALARS:
                    self._item(item, store, key, depth)
        elif callable(getattr(value, "__paddle_jax_function__", None)):
            self.function(value.__paddle_jax_function__(), depth)
        elif _is_plain(value):
            self.seen.add(id(value))
            own = value.__dict__
            self.owners.append((value, self.values))
            self.objects.append(value)
            for name, item in list(own.items()):
                if type(item) not in _SCALARS:
                    self._item(item, own, name, depth)

    def _layer(self, layer, depth):
        for one in layer.sublayers(include_self=True):
            if id(one) in self.seen:
                continue
            self.seen.add(id(one))
            own = one.__dict__
            for store in (own["_parameters"], own["_buffers"]):
                for name, tensor in store.items():
                    if tensor is None:
                        self.settings.append((store, name, None))
                    else:
                        self._tensor(tensor, store, name)
            ours = (type(one).__module__ or "").partition(".")[0] in _OURS
            if not ours:
                self.owners.append((one, self.settings))
            for name, item in own.items():
                if type(item) in _SCALARS:
                    if ours and name != "_full_name":
                        self.settings.append((own, name, item))
                elif name[0] != "_" or isinstance(item, Tensor):
                    self._item(item, own, name, min(depth, 2))

    def _method(self, method):
        """Looks at a method or property of a class."""
        if isinstance(method, property):
            method = method.fget
        method = getattr(method, "__func__", method)  # of a classmethod or staticmethod
        self.function(method.__paddle_jax_function__() if hasattr(method, "__paddle_jax_function__") else method)

    def _optimizer(self, optimizer):
        self.seen.add(id(optimizer))
        own = optimizer.__dict__
        for name, item in own.items():
            if type(item) in _SCALARS and name != "_learning_rate":
                self.values.append((own, name, item))
        for name in ("_grad_clip", "regularization"):
            if own.get(name) is not None:
                self.values.append((own, name, own[name]))
        for param in optimizer._all_params():
            self._tensor(param, None, None)


def content_of(cell):
    """What a variable of an enclosing function holds; MISSING before it is set."""
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return MISSING


def _equal(a, b):
    return type(a) is type(b) and type(a) in _SCALARS and (a == b or a != a and b != b)


def _is_plain(value):
    """Whether it is an object of a class of the user's, whose attributes the function may use."""
    if not isinstance(getattr(value, "__dict__", None), dict) or isinstance(value, LRScheduler):
        return False
    module = (type(value).__module__ or "").partition(".")[0]
    return module not in _OURS and module not in sys.stdlib_module_names
