"""Calls in observed code: the user's functions are entered, others may read only what they are given."""

import array
import collections
import dataclasses
import functools as ft
import inspect
import operator
import os
import sys
import types
import weakref

import jax
import numpy as np

from paddle_jax._core.base.caller_info import LIBRARIES, package_of
from paddle_jax._core.base.errors import TracedValueError
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.module_protocol import ModuleBase, library_class
from paddle_jax._core.execution.python_state import CONTAINERS, SCALARS, same
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.guards.guard_set import MISSING
from paddle_jax._program.guards.observer_view import ObserverView
from paddle_jax._program.rewrite import state_access
from paddle_jax._program.rewrite.call_policy import CachedCall, ObservedCall
from paddle_jax._program.rewrite.converted_calls import lifted
from paddle_jax._program.rewrite.source import (
    NoSource,
    class_of,
    expression,
    framed,
    maker,
    nested,
    remade,
    rewrapped,
    syntax_of,
)

# Modules of Python whose functions read nothing but their arguments, or print.
_PURE = frozenset(
    """
    abc ast bisect builtins cmath collections colorsys contextlib copy dataclasses difflib enum
    fractions functools heapq inspect itertools json keyword logging math ntpath numbers operator posixpath
    pprint re reprlib statistics string struct textwrap traceback types typing warnings _abc _bisect
    _collections _functools _heapq _json _operator _statistics _struct _warnings""".split()
)
_KNOWN = _PURE.union(LIBRARIES)
_REFUSED = frozenset(
    (globals, locals, eval, exec, dir, open, input, __import__, compile, breakpoint, sys._getframe)
)
_ASKING = frozenset((isinstance, issubclass, type, id, callable, print, super))
# part of the signature of a call; a block in the function may change them
_KEYED = ("is_grad_enabled", "get_default_dtype")
_LOGGED = ("isEnabledFor", "getEffectiveLevel", "hasHandlers")  # what loggers are asked
_LOGGING = ("debug", "info", "warning", "warn", "error", "critical", "log")
# of os.path: what does not look at files
_PATHS = ("join", "basename", "dirname", "splitext", "split", "normpath", "isabs")
_CHANGING = frozenset(
    (
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "add",
        "discard",
        "appendleft",
        "popleft",
        "extendleft",
        "rotate",
    )
)
_MAKING = (list, dict, set, tuple, frozenset, zip, map, filter, enumerate, reversed, iter, sorted)
_GOING_THROUGH = (zip, enumerate, reversed, list, tuple)
_SHOWING = ("items", "values", "keys", "copy")
_NEW = ("builtins", "collections", "types")  # modules of classes that make a new object at each call
_ALLOCATING = tuple(c.__new__ for c in (object, list, dict, set, collections.OrderedDict, collections.deque))
_NO_HOLDERS = (str, bytes, Tensor, np.ndarray)  # whose methods give containers that nobody else has
_VIEWS = (type({}.keys()), type({}.values()), type({}.items()))  # what they show is the dict's own
DYNAMIC = "_paddle_jax_dynamic"  # an attribute of what `paddle.jit.marker.force_dynamic` marks
_OBSERVED = weakref.WeakKeyDictionary()  # code -> code that makes its observed form


class Calls:
    """The part of the observer that answers calls."""

    def call(self, function, args, named):
        """`function(*args, **named)`."""
        function, args, named = self.prepared(function, args, named)
        return self.result(function, function(*args, **named))

    def result(self, function, value):
        """What a call has given."""
        if isinstance(function, CachedCall):
            return self.value(value)
        kind = type(value)
        new = kind is function and (kind.__module__ in _NEW or makes_new(kind))
        if new or kind.__module__.startswith("numpy.random"):
            return self.new(value)
        if kind in (*CONTAINERS, zip, map, filter, enumerate, reversed):
            if (
                getattr(function, "__name__", "") == "copy"
                or function in _MAKING
                or isinstance(getattr(function, "__self__", None), _NO_HOLDERS)
                or package_of(getattr(function, "__module__", None) or "") in LIBRARIES
            ):
                return self.new(value)
            if function is vars:
                self.outer[id(value)] = value
        elif isinstance(value, _VIEWS) and id(getattr(function, "__self__", None)) in self.created:
            return self.new(value)
        return value

    def prepared(self, function, args, named):
        """What to call, and with what, so that all it reads is observed."""
        kind = type(function)
        if kind is types.MethodType:
            self.kept.append(function)
            return self.prepared(function.__func__, (function.__self__, *args), named)
        if kind is ft.partial:
            for name in ("func", "args", "keywords"):
                self.facts.attributes.add(function, name, getattr(function, name))
            self.content(function.keywords)
            return self.prepared(function.func, (*function.args, *args), {**function.keywords, **named})
        if kind is types.FunctionType:
            return self._function(function, args, named)
        if isinstance(function, type):
            return self._class(function, args, named)
        if kind in (
            types.BuiltinFunctionType,
            types.MethodDescriptorType,
            types.MethodWrapperType,
            types.WrapperDescriptorType,
            types.ClassMethodDescriptorType,
        ):
            return self._builtin(function, args, named)
        return self._object(function, kind, args, named)

    def _contents(self, args, named):
        """Arguments for code that is not observed: it may look at all of them, call the functions among them,
        and change containers."""
        for value in (*args, *named.values()):
            self.content(value)
            if isinstance(value, CONTAINERS):
                local.ctx.frame.on_object_change(value)
        return tuple([self.entered(a) for a in args]), {k: self.entered(a) for k, a in named.items()}

    def entered(self, value):
        """A function of the user in its observed form, anything else as it is."""
        if isinstance(value, types.FunctionType):
            return self.enter(value) if self.is_users_function(value) else value
        if isinstance(value, types.MethodType) and self.is_users_function(value.__func__):
            return types.MethodType(self.enter(value.__func__), value.__self__)
        return value

    def is_users_function(self, function):
        """Whether it is a plain function that the user wrote."""
        return isinstance(function, types.FunctionType) and self.is_users(
            function.__globals__.get("__name__") or ""
        )

    # functions ----------------------------------------------------------------------------------------------

    def _function(self, function, args, named):
        scope = function.__globals__.get("__name__") or ""
        root = package_of(scope)
        if self.is_users(scope):
            self._may_be_compiled(function)
            return self.enter(function), args, named
        if root in LIBRARIES:
            if ".random" in scope and root == "numpy":
                self.uncovered("random numbers of NumPy are drawn")
            if args and isinstance(args[0], ModuleBase):
                if function is library_class(type(args[0])).__call__:
                    return function, args, named
            if args and isinstance(args[0], type) and self.is_users(args[0]):  # a PyLayer
                for name in ("forward", "backward"):
                    self._on_classes(args[0].__mro__, name)
            args, named = self._contents(args, named)
            asked = self._asked(function, args, named)
            return self._unwrapped(function) if asked is function else asked, args, named
        if (
            function is os.getenv
            or args
            and isinstance(args[0], type(os.environ))
            or root == "logging"
            and function.__name__ in _LOGGED
        ):
            return self._asked(function, args, named, True), args, named
        if root == "logging" and function.__name__ in _LOGGING and not local.ctx.frame.capture.once:
            return ObservedCall(self._logged, function), *self._contents(args, named)
        if root not in _PURE or root in ("posixpath", "ntpath") and function.__name__ not in _PATHS:
            self.uncovered(f"it calls {scope}.{function.__qualname__}")
        args, named = self._contents(args, named)
        return self._unwrapped(function), args, named

    def _unwrapped(self, function):
        """A library's wrapper round a function of the user, with that function observed."""
        inner = getattr(function, "__wrapped__", None)
        if not self.is_users_function(inner) or function.__closure__ is None or self.converted:
            return function
        return rewrapped(function, inner, self.enter(inner))

    def _asked(self, function, args, named, always=False):
        """A function that tells a fact about a library's state is asked again at each call."""
        name = function.__name__
        asks = (
            name.startswith(("get_", "is_", "has_"))
            and name not in _KEYED
            and not any(isinstance(a, Tensor) for a in (*args, *named.values()))
        )
        if not always and not asks:
            return function

        def asking(*args, **named):
            if (
                args
                and hasattr(args[0], "get_lr")
                and local.ctx.frame.capture is not None
                and local.ctx.frame.capture.effects
            ):
                self.after_effect(f"what {name} gives")
            value = function(*args, **named)
            if isinstance(value, (bool, int, float, str, dict, type(None))):
                key = None if named else (id(function), *map(id, args))
                self.facts.result(lambda: function(*args, **named), f"what {name} gives", key, value=value)
            return value

        return ObservedCall(asking)

    def enter(self, function):
        """The observed form of a function of the user."""
        self._written(function)
        if self.converted or hasattr(function, "autograph_info__"):
            return function
        twin = self.twins.get(id(function))
        if twin is None or twin[0] is not function:
            twin = self.twins[id(function)] = function, self._observed(function)
        return twin[1]

    def _written(self, function):
        """Notes what a function of the user is: its code and its defaults."""
        facts = self.facts.attributes
        facts.add(function, "__code__", function.__code__)
        if function.__defaults__:  # where there are none, all arguments are passed
            facts.add(function, "__defaults__", function.__defaults__)
            for default in function.__defaults__:
                self.value(default)
        if function.__kwdefaults__:
            facts.add(function, "__kwdefaults__", function.__kwdefaults__)
            self.content(function.__kwdefaults__)

    def _observed(self, function):
        code = function.__code__
        if code in self.codes:  # it is observed already: a function made in the run
            return function
        try:
            observed = _OBSERVED.get(code)
            if observed is None:
                observed = _OBSERVED[code] = _compiled(function)
        except state_access.OutsideChanged as error:
            self.refuse(str(error))
        except (NoSource, state_access.NotCovered) as error:
            self.uncovered(f"{function.__qualname__}: {error}")
            return function
        twin = remade(function, observed, lambda cells: [ObserverView(self, function, cells)])
        self.codes.update(nested(observed))
        return twin

    # classes, builtins, objects -----------------------------------------------------------------------------

    def _class(self, cls, args, named):
        if not self.is_users(cls):
            if cls is type and len(args) == 1:
                self.class_of(args[0])
            if self._is_random(cls.__module__, args, named):
                self.uncovered("random numbers of NumPy are drawn")
            if package_of(cls.__module__) not in _KNOWN:
                self.uncovered(f"it makes a {cls.__module__}.{cls.__name__}")
            if cls in _GOING_THROUGH:
                return cls, [self.iterate(a) for a in args], named
            args, named = self._contents(args, named)
            return cls, args, named
        if dataclasses.is_dataclass(cls):
            self._written(cls.__init__)
            self.codes.update(
                [
                    f.__code__
                    for f in vars(cls).values()
                    if isinstance(f, types.FunctionType) and f.__code__.co_filename == "<string>"
                ]
            )
        self.facts.attributes.add(cls, "__mro__", cls.__mro__)
        self._on_classes(cls.__mro__, "__new__")
        start = self._on_classes(cls.__mro__, "__init__")
        if makes_new(cls) and isinstance(start, types.FunctionType):
            known = self.is_users_function(start) and start.__code__ not in self.codes
            return ObservedCall(self._make, cls, self._running(start) if known else start), args, named
        return cls, args, named

    def _running(self, function):
        """A function of the user in the form that the run has: observed, with its control flow converted if
        that of all functions is."""
        observed = self.entered(function)
        return lifted(function) if self.converted else observed

    def _make(self, cls, start, *args, **named):
        instance = self.new(cls.__new__(cls))
        finish = self._on_classes(cls.__mro__, "__post_init__") if dataclasses.is_dataclass(cls) else None
        own = getattr(instance, "__dict__", None)
        if self.is_users_function(finish) and own is not None:
            entered = self._running(finish)

            def once(*args):
                del own["__post_init__"]
                return entered(instance, *args)

            own["__post_init__"] = once  # which the `__init__` of the dataclass finds first
        start(instance, *args, **named)
        if own is not None and "__post_init__" in own:  # another `__init__` has not called it
            del own["__post_init__"]
        return instance

    def _builtin(self, function, args, named):
        if (
            function is eval
            and len(args) == 2
            and isinstance(args[0], str)
            and type(args[1]) is dict
            and not named
        ):
            return self.prepared(expression(*args), (), {})
        if function in _REFUSED or function is vars and not args:
            self.refuse(f"it calls {function.__name__}(), which reads what cannot be observed")
        if function is print and not self.converted:
            return ObservedCall(self._printed), *self._contents(args, named)
        if function in _ASKING:
            self._asked_of_classes(function, args)
            return function, args, named
        if function in (getattr, hasattr):
            return ObservedCall(self._getattr, function), args, named
        if function in (setattr, delattr) and len(args) > 1:
            self.set_attribute(*args[:2])
            return function, args, named
        if function is len and args:
            length = self.method_of(args[0], "__len__")
            if length is not None:
                return self.prepared(length, args, named)
            self.length(args[0])
            return function, args, named
        if function is iter and len(args) == 1:
            return function, [self.iterate(args[0])], named
        owner = getattr(function, "__self__", None)
        if owner is None or isinstance(owner, types.ModuleType):
            module = (
                getattr(function, "__module__", None)
                or getattr(getattr(function, "__objclass__", None), "__module__", None)
                or "builtins"
            )
            if package_of(module) not in _KNOWN or module.startswith("numpy.random"):
                self.uncovered(f"it calls {module}.{function.__name__}")
            return function, *self._contents(args, named)
        return self._method(function, owner, args, named)

    def _printed(self, *args, **named):
        """What is printed is printed by each call; Tensors by the program, where its code is converted."""
        if any(isinstance(a, Tensor) for a in args):
            raise TracedValueError("print")
        local.ctx.frame.capture.writes(print, tuple(map(str, args)), named)

    def _logged(self, function, *args, **named):
        """What is logged is logged by each call."""
        if any(isinstance(a, Tensor) for a in (*args, *named.values())):
            self.refuse("it logs a tensor, which would happen while compiling only")
        local.ctx.frame.capture.writes(function, args, named)

    def _asked_of_classes(self, function, args):
        """What `callable`, and `isinstance` and `issubclass` of abstract classes, give is asked
        again at each call."""
        if args and function in (isinstance, callable):
            self.class_of(args[0])
        if function is callable and args:
            self._on_classes(type(args[0]).__mro__, "__call__")
        elif function in (isinstance, issubclass) and len(args) == 2:
            kind = args[0] if function is issubclass else type(args[0])
            if isinstance(kind, type) and any(
                type(c) is not type for c in (args[1] if isinstance(args[1], tuple) else (args[1],))
            ):
                self.facts.result(lambda: issubclass(kind, args[1]), "the class of an object")

    def _method(self, function, owner, args, named):
        """A method, written in C, of a container or another object."""
        args, named = self._contents(args, named)
        if isinstance(owner, CONTAINERS):
            local.ctx.frame.on_object_change(owner)
        if isinstance(owner, type) and function.__name__ in ("__subclasses__", "mro"):
            self.facts.result(function, f"the classes of {owner.__name__}")
        if id(owner) in self.created or isinstance(
            owner, (str, bytes, int, float, Tensor, tuple, range, type)
        ):
            return function, args, named
        if isinstance(owner, dict) and function.__name__ == "get":
            self.value(dict.get(owner, args[0], MISSING), owner, args[0], self.facts.entries)
        elif (
            isinstance(owner, (list, dict, set, np.ndarray, array.array, bytearray))
            or type(owner).__module__ == "collections"
        ):
            if function.__name__ not in _CHANGING:
                self.content(owner, objects=function.__name__ not in _SHOWING)
        elif type(owner).__module__ == "_contextvars" and function.__name__ == "get":
            return self._asked(function, args, named, True), args, named
        elif package_of(type(owner).__module__) not in _KNOWN or type(owner).__module__.startswith(
            "numpy.random"
        ):
            self.uncovered(f"it calls {type(owner).__name__}.{function.__name__}")
        return function, args, named

    def _getattr(self, function, owner, name, *default):
        try:
            value = self.attribute(owner, name)
        except AttributeError:
            if function is hasattr:
                return False
            if default:
                return default[0]
            raise
        return True if function is hasattr else value

    def _object(self, function, kind, args, named):
        if isinstance(function, ModuleBase):
            # that of Layer itself a profiler exchanges
            self._on_classes(kind.__mro__[: kind.__mro__.index(library_class(kind))], "__call__")
            return function, args, named
        if kind is operator.attrgetter:
            return ObservedCall(self._getters, function.__reduce__()[1]), args, named
        if kind is operator.itemgetter and len(function.__reduce__()[1]) == 1:
            return (
                ObservedCall(lambda container: self.item(container, function.__reduce__()[1][0])),
                args,
                named,
            )
        if kind is ft._lru_cache_wrapper:
            return self._cached(function, args, named)
        inner = getattr(function, "dygraph_function", None)
        if inner is not None and not self.converted:
            return self.prepared(inner, args, named)
        method = inspect.getattr_static(kind, "__call__", None)
        if self.is_users_function(method):
            self._on_classes(kind.__mro__, "__call__")
            return self.prepared(method, (function, *args), named)
        module = getattr(function, "__module__", None) or kind.__module__ or ""
        other = package_of(module) not in _KNOWN and package_of(kind.__module__) not in LIBRARIES
        if other or self._is_random(module, args, named):
            self.uncovered(f"it calls a {kind.__module__}.{kind.__name__}")
        return function, *self._contents(args, named)

    def _is_random(self, module, args, named):
        """Whether a function of a module draws random numbers, other than from a generator that the function
        has made of a number."""
        if not module.startswith("numpy.random"):
            return False
        first = next(iter((*args, *named.values())), None)
        return not (type(first) is int or id(first) in self.created)

    def _getters(self, names, owner):
        values = [ft.reduce(self.attribute, name.split("."), owner) for name in names]
        return values[0] if len(values) == 1 else tuple(values)

    def _cached(self, function, args, named):
        """A function behind functools.lru_cache: it is asked again at each call, as in eager execution, and
        has to give the same object, or an equal number."""
        if any(isinstance(a, Tensor) for a in (*args, *named.values())):
            self.refuse(f"{function.__name__} caches what it gives for Tensors")

        def unobserved(*args, **named):
            note = sys.getprofile()
            sys.setprofile(None)
            try:
                value = function(*args, **named)
            finally:
                sys.setprofile(note)
            if any(isinstance(t._raw, jax.core.Tracer) for t in _tensors(value)):
                function.cache_clear()  # of what this run has put into it
                self.refuse(f"{function.__name__} caches a Tensor; call it once before, or outside")
            self.facts.result(
                lambda: _is_same(value, function(*args, **named)),
                f"the cache of {function.__name__}",
                (id(function), args, tuple(named.items())),
                value=True,
            )
            return value

        return CachedCall(unobserved), args, named

    # layers -------------------------------------------------------------------------------------------------

    def own_forward(self, own):
        """The `forward` that a Layer itself has, without the one that converted code puts
        there for a while."""
        forward = own.get("forward", MISSING)
        return MISSING if hasattr(getattr(forward, "__func__", forward), "autograph_info__") else forward

    def _may_be_compiled(self, thing):
        """Refuses what is marked to run eagerly."""
        if getattr(thing, DYNAMIC, False) and not local.ctx.frame.capture.once:
            self.refuse(f"{getattr(thing, '__qualname__', type(thing).__name__)} is marked by force_dynamic")

    def forward_of(self, layer):
        """The `forward` of a Layer that is being called, observed."""
        self._may_be_compiled(layer)
        self.class_of(layer)
        # one that to_static has compiled is a part here
        own, forward = layer.__dict__, getattr(layer.forward, "dygraph_function", layer.forward)
        (self.settings if id(layer) in self.layers else self.facts.entries).add(
            own, "forward", self.own_forward(own)
        )
        self._on_classes(type(layer).__mro__, "forward")
        return self._running(forward)


def _tensors(value):
    """The Tensors in a value, and in the containers that it is made of."""
    return [
        leaf
        for leaf in jax.tree.leaves(value, is_leaf=lambda x: isinstance(x, Tensor))
        if isinstance(leaf, Tensor)
    ]


def _is_same(value, now):
    return now is value or type(value) in SCALARS and same(value, now)


def makes_new(cls):
    """Whether each call of a class gives an object of its own."""
    return type(cls).__call__ is type.__call__ and cls.__new__ in _ALLOCATING


def _compiled(function):
    """Code that makes the observed form of a function, given its observer."""
    try:
        node = state_access.rewritten(syntax_of(function), function.__code__.co_freevars, class_of(function))
    except RecursionError:
        raise state_access.NotCovered("its source is nested too deep") from None
    return maker(framed(node, "observed__", function, state_access.READS), function)
