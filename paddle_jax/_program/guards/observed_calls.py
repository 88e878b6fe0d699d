"""Calls in observed code.

Functions of the user are observed too. Others may read nothing but their arguments.
"""

from __future__ import annotations

import array
import collections
import copy
import dataclasses
import functools as ft
import inspect
import operator
import os
import sys
import types
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import jax
import jax.core
import numpy as np

from paddle_jax._core.base.caller_info import LIBRARIES, package_of
from paddle_jax._core.base.errors import TracedValueError
from paddle_jax._core.base.interrupt_safe import run_unrecorded
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.module_protocol import ModuleBase, library_class
from paddle_jax._core.execution.python_state import CONTAINERS, SCALARS, members, same_value
from paddle_jax._core.tensors.held_values import holds_tracer
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.guards.observer_view import ObserverView
from paddle_jax._program.guards.read_guards import MISSING, ReadGuards, ReadTable
from paddle_jax._program.rewrite import state_access
from paddle_jax._program.rewrite.call_policy import CachedCall, ObservedCall
from paddle_jax._program.rewrite.converted_calls import converted_callable
from paddle_jax._program.rewrite.source import (
    NoSource,
    class_name_of,
    compile_factory,
    expression_function,
    make_function,
    nested_codes,
    rewrap,
    syntax_of,
    wrap_in_factory,
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
    # They see more than their arguments: variables of the caller, files, or modules.
    (globals, locals, eval, exec, dir, open, input, __import__, compile, breakpoint, sys._getframe)
)
# They ask for the class of their argument alone.
_CLASS_QUERIES = frozenset((isinstance, issubclass, type, id, callable, print, super))
# part of the signature of a call; a block in the function may change them
_SIGNATURE_QUERIES = ("is_grad_enabled", "get_default_dtype")
_LOGGER_QUERIES = ("isEnabledFor", "getEffectiveLevel", "hasHandlers")  # what loggers are asked
_LOGGER_WRITERS = ("debug", "info", "warning", "warn", "error", "critical", "log")
# of os.path: what does not look at files
_PURE_PATH_FUNCTIONS = ("join", "basename", "dirname", "splitext", "split", "normpath", "isabs")
_MUTATING_METHODS = frozenset(
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
_CONTAINER_MAKERS = (list, dict, set, tuple, frozenset, zip, map, filter, enumerate, reversed, iter, sorted)
_ITERATING_CLASSES = (zip, enumerate, reversed, list, tuple)
_VIEW_METHODS = ("items", "values", "keys", "copy")
_NEW_OBJECT_MODULES = (
    "builtins",
    "collections",
    "types",
)  # modules of classes that make a new object at each call
_ALLOCATORS = tuple(c.__new__ for c in (object, list, dict, set, collections.OrderedDict, collections.deque))
_CONTAINER_FREE = (str, bytes, Tensor, np.ndarray)  # whose methods give containers that nobody else has
_DICT_VIEWS = (type({}.keys()), type({}.values()), type({}.items()))  # what they show is the dict's own
DYNAMIC = "_paddle_jax_dynamic"  # an attribute of what `paddle.jit.marker.force_dynamic` marks
_observed_code = weakref.WeakKeyDictionary()  # code -> code that makes its observed form


Args = Sequence[Any]
Named = dict[str, Any]
Prepared = tuple[Any, Args, Named]


class CallObserver:
    """The part of the observer that answers calls."""

    if TYPE_CHECKING:  # what StateObserver has
        capture: Any  # the Capture; None before it begins
        converted: bool
        created: dict[int, Any]
        guarded_layers: Collection[int]
        guards: ReadGuards
        held_objects: list[Any]
        layer_forwards: ReadTable | None
        observed_codes: set[types.CodeType]
        observed_functions: dict[int, tuple[types.FunctionType, types.FunctionType]]
        outer_containers: dict[int, Any]
        before_set_attribute: Callable[..., Any]
        guard_class: Callable[[Any], None]
        is_user_code: Callable[[Any], bool]
        mark_created: Callable[[Any], Any]
        mark_unguarded: Callable[[str], None]
        read_attribute: Callable[..., Any]
        read_content: Callable[..., Any]
        read_item: Callable[..., Any]
        read_iterable: Callable[[Any], Any]
        read_length: Callable[[Any], None]
        read_value: Callable[..., Any]
        refuse: Callable[[str], NoReturn]
        refuse_after_effect: Callable[[str], NoReturn]
        user_method: Callable[..., Any]
        _class_attribute: Callable[..., Any]

    def call(self, function: Any, args: Args, named: Named) -> Any:
        """`function(*args, **named)`."""
        function, args, named = self.prepare_call(function, args, named)
        return self.call_result(function, function(*args, **named))

    def call_result(self, function: Any, value: Any) -> Any:
        """Takes in the result of a call, and returns it."""
        if isinstance(function, CachedCall):
            return self.read_value(value)
        kind = type(value)
        # An object that only this call has made cannot be reached from elsewhere.
        new = kind is function and (kind.__module__ in _NEW_OBJECT_MODULES or makes_new(kind))
        if new or kind.__module__.startswith("numpy.random"):
            return self.mark_created(value)
        if function is copy.deepcopy:
            return self._mark_copied(value)
        # A container of a call: new for certain calls, else it may be kept somewhere.
        if kind in (*CONTAINERS, zip, map, filter, enumerate, reversed):
            if (
                getattr(function, "__name__", "") == "copy"
                or function in _CONTAINER_MAKERS
                or isinstance(getattr(function, "__self__", None), _CONTAINER_FREE)
                or package_of(getattr(function, "__module__", None) or "") in LIBRARIES
            ):
                return self.mark_created(value)
            # `vars(x)` is the dict of the object itself.
            if function is vars:
                self.outer_containers[id(value)] = value
        elif isinstance(value, _DICT_VIEWS) and id(getattr(function, "__self__", None)) in self.created:
            return self.mark_created(value)
        return value

    def _mark_copied(self, value: Any) -> Any:
        """Takes in what `copy.deepcopy` gave: the containers in it are new, too."""
        if type(value) in (tuple, *CONTAINERS) and id(value) not in self.created:
            self.mark_created(value)
            for _, member in members(value):
                self._mark_copied(member)
        return value

    def prepare_call(self, function: Any, args: Args, named: Named) -> Prepared:
        """The function to call instead, and its arguments, so that all its reads are observed."""
        kind = type(function)
        if kind is types.MethodType:
            # A method is made at each look-up; its id must not be used again while the run lasts.
            self.held_objects.append(function)
            return self.prepare_call(function.__func__, (function.__self__, *args), named)
        if kind is ft.partial:
            # The parts of a partial may not change; `keywords` is a dict that may.
            for name in ("func", "args", "keywords"):
                self.guards.attributes.add(function, name, getattr(function, name))
            self.read_content(function.keywords)
            return self.prepare_call(function.func, (*function.args, *args), {**function.keywords, **named})
        if kind is types.FunctionType:
            return self._prepare_function(function, args, named)
        if isinstance(function, type):
            return self._prepare_class(function, args, named)
        if kind in (
            types.BuiltinFunctionType,
            types.MethodDescriptorType,
            types.MethodWrapperType,
            types.WrapperDescriptorType,
            types.ClassMethodDescriptorType,
        ):
            return self._prepare_builtin(function, args, named)
        return self._prepare_object(function, kind, args, named)

    def _read_arguments(self, args: Args, named: Named) -> tuple[Args, Named]:
        """Arguments for code that is not observed: it may look at all of them, call the functions among them,
        and change containers."""
        for value in (*args, *named.values()):
            # Unobserved code may read anything in its arguments.
            self.read_content(value)
            if isinstance(value, CONTAINERS):
                local.ctx.frame.on_object_change(value)
        return tuple([self.observed_form(a) for a in args]), {
            k: self.observed_form(a) for k, a in named.items()
        }

    def observed_form(self, value: Any) -> Any:
        """A function of the user in its observed form, anything else as it is."""
        if isinstance(value, types.FunctionType):
            if self.is_user_function(value):
                return self.observed_function(value)
            return value
        if isinstance(value, types.MethodType) and self.is_user_function(value.__func__):
            return types.MethodType(self.observed_function(value.__func__), value.__self__)
        # In converted code `converted_call` asks for the cached value.
        if isinstance(value, ft._lru_cache_wrapper) and not self.converted:
            cached, _, _ = self._prepare_cached(value, (), {})
            return lambda *args, **named: self.read_value(cached(*args, **named))
        return value

    def is_user_function(self, function: Any) -> bool:
        """Whether it is a plain function that the user wrote."""
        return isinstance(function, types.FunctionType) and self.is_user_code(
            function.__globals__.get("__name__") or ""
        )

    # functions ----------------------------------------------------------------------------------------------

    def _prepare_function(self, function: types.FunctionType, args: Args, named: Named) -> Prepared:
        """A function that is written in Python."""
        scope = function.__globals__.get("__name__") or ""
        root = package_of(scope)
        if self.is_user_code(scope):
            self._refuse_dynamic(function)
            return self.observed_function(function), args, named
        if root in LIBRARIES:
            return self._prepare_library_function(function, args, named)
        # The environment and the levels of loggers are asked again at each call.
        is_environment = function is os.getenv or bool(args) and isinstance(args[0], type(os.environ))
        if is_environment or root == "logging" and function.__name__ in _LOGGER_QUERIES:
            return self._repeated_query(function, args, named, True), args, named
        is_logging = root == "logging" and function.__name__ in _LOGGER_WRITERS
        if is_logging and not self.capture.full_graph:
            return ObservedCall(self._log, function), *self._read_arguments(args, named)
        # `os.path.exists` and others look at files, whose state no guard knows.
        reads_files = root in ("posixpath", "ntpath") and function.__name__ not in _PURE_PATH_FUNCTIONS
        if root not in _PURE or reads_files:
            self.mark_unguarded(f"it calls {scope}.{function.__qualname__}")
        args, named = self._read_arguments(args, named)
        return self._observed_wrapper(function), args, named

    def _prepare_library_function(self, function: types.FunctionType, args: Args, named: Named) -> Prepared:
        """A function of this package, of JAX or NumPy."""
        scope = function.__globals__.get("__name__") or ""
        # The numbers would be those of the run at each call.
        if ".random" in scope and package_of(scope) == "numpy":
            self.mark_unguarded("random numbers of NumPy are drawn")
        first = args[0] if args else None
        # A Layer observes its `forward` itself, see `observed_forward`.
        if isinstance(first, ModuleBase) and function is library_class(type(first)).__call__:
            return function, args, named
        if isinstance(first, type) and self.is_user_code(first):  # a PyLayer
            for name in ("forward", "backward"):
                self._class_attribute(first.__mro__, name)
        args, named = self._read_arguments(args, named)
        query = self._repeated_query(function, args, named)
        return self._observed_wrapper(function) if query is function else query, args, named

    def _observed_wrapper(self, function: Any) -> Any:
        """A library's wrapper round a function of the user, with that function observed."""
        inner: Any = getattr(function, "__wrapped__", None)
        # No function of the user inside, or it was converted already.
        if not self.is_user_function(inner) or function.__closure__ is None or self.converted:
            return function
        return rewrap(function, inner, self.observed_function(inner))

    def _repeated_query(self, function: Any, args: Args, named: Named, always: bool = False) -> Any:
        """A function about the state of a library, whose result each call compares again."""
        name = function.__name__
        asks = (
            name.startswith(("get_", "is_", "has_"))
            and name not in _SIGNATURE_QUERIES
            and not any(isinstance(a, Tensor) for a in (*args, *named.values()))
        )
        if not always and not asks:
            return function

        def asking(*args: Any, **named: Any) -> Any:
            # A rate after `scheduler.step()` is the one of this step; each call has its own.
            if args and hasattr(args[0], "get_lr") and self.capture is not None and self.capture.effects:
                self.refuse_after_effect(f"what {name} gives")
            value = function(*args, **named)
            # Small values can be compared. Others, such as Tensors, are operands or unknown.
            if isinstance(value, (bool, int, float, str, dict, type(None))):
                key = None if named else (id(function), *map(id, args))
                self.guards.guard_result(
                    lambda: function(*args, **named), f"what {name} gives", key, value=value
                )
            return value

        return ObservedCall(asking)

    def observed_function(self, function: types.FunctionType) -> types.FunctionType:
        """The observed form of a function of the user."""
        self._guard_function(function)
        if self.converted or hasattr(function, "autograph_info__"):
            return function
        # The id may belong to another function by now.
        twin = self.observed_functions.get(id(function))
        if twin is None or twin[0] is not function:
            twin = self.observed_functions[id(function)] = function, self._compile_observed(function)
        return twin[1]

    def _guard_function(self, function: Any) -> None:
        """Guards the code and the defaults of a function of the user."""
        guards = self.guards.attributes
        # Users may replace the code of a function, as debuggers and hot reloading do.
        guards.add(function, "__code__", function.__code__)
        if function.__defaults__:  # where there are none, all arguments are passed
            guards.add(function, "__defaults__", function.__defaults__)
            for default in function.__defaults__:
                self.read_value(default)
        if function.__kwdefaults__:
            guards.add(function, "__kwdefaults__", function.__kwdefaults__)
            self.read_content(function.__kwdefaults__)

    def _compile_observed(self, function: types.FunctionType) -> types.FunctionType:
        code = function.__code__
        if code in self.observed_codes:  # it is observed already: a function made in the run
            return function
        try:
            observed = _observed_code.get(code)
            if observed is None:
                observed = _observed_code[code] = _compiled(function)
        # The change would happen once, while the program is compiled.
        except state_access.OutsideAssignment as error:
            self.refuse(str(error))
        except (NoSource, state_access.Unobservable) as error:
            self.mark_unguarded(f"{function.__qualname__}: {error}")
            return function
        observer: Any = self
        twin = make_function(function, observed, lambda cells: (ObserverView(observer, function, cells),))
        self.observed_codes.update(nested_codes(observed))
        return twin

    # classes, builtins, objects -----------------------------------------------------------------------------

    def _prepare_class(self, cls: type, args: Args, named: Named) -> Prepared:
        if not self.is_user_code(cls):
            # `type(x)` gives the class, and code may decide by it.
            if cls is type and len(args) == 1:
                self.guard_class(args[0])
            if self._is_random(cls.__module__, args, named):
                self.mark_unguarded("random numbers of NumPy are drawn")
            if package_of(cls.__module__) not in _KNOWN:
                self.mark_unguarded(f"it makes a {cls.__module__}.{cls.__name__}")
            if cls in _ITERATING_CLASSES:
                return cls, [self.read_iterable(a) for a in args], named
            args, named = self._read_arguments(args, named)
            return cls, args, named
        if dataclasses.is_dataclass(cls):
            self._guard_function(cls.__init__)
            # The generated methods of a dataclass have no source, and read nothing but their arguments.
            self.observed_codes.update(
                [
                    f.__code__
                    for f in vars(cls).values()
                    if isinstance(f, types.FunctionType) and f.__code__.co_filename == "<string>"
                ]
            )
        self.guards.attributes.add(cls, "__mro__", cls.__mro__)
        self._class_attribute(cls.__mro__, "__new__")
        start = self._class_attribute(cls.__mro__, "__init__")
        # `__new__` of Python's own makes a new object: only then the instance is the run's.
        if makes_new(cls) and isinstance(start, types.FunctionType):
            known = self.is_user_function(start) and start.__code__ not in self.observed_codes
            return (
                ObservedCall(self._make_instance, cls, self._run_form(start) if known else start),
                args,
                named,
            )
        return cls, args, named

    def _run_form(self, function: Any) -> Any:
        """A function of the user in the form that the run has: observed, with its control flow converted if
        that of all functions is."""
        observed = self.observed_form(function)
        if self.converted:
            return converted_callable(function)
        return observed

    def _make_instance(self, cls: Any, start: Callable[..., Any], *args: Any, **named: Any) -> Any:
        instance = self.mark_created(cls.__new__(cls))
        classes = cls.__mro__
        if dataclasses.is_dataclass(cls):
            finish = self._class_attribute(classes, "__post_init__")
        else:
            finish = None
        own = getattr(instance, "__dict__", None)
        if self.is_user_function(finish) and own is not None:
            entered = self._run_form(finish)

            # Deleted at once, so that the instance looks as it does without the observer.
            def once(*args: Any) -> Any:
                del own["__post_init__"]
                return entered(instance, *args)

            own["__post_init__"] = once  # which the `__init__` of the dataclass finds first
        start(instance, *args, **named)
        if own is not None and "__post_init__" in own:  # another `__init__` has not called it
            del own["__post_init__"]
        return instance

    def _prepare_builtin(self, function: Any, args: Args, named: Named) -> Prepared:
        """A function that is written in C, or a method of such a class."""
        # `eval` of a text in a dict of names is a function without arguments, which can be observed.
        if function is eval and not named and len(args) == 2:
            text, scope = args
            if isinstance(text, str) and type(scope) is dict:
                return self.prepare_call(expression_function(text, scope), (), {})
        if function in _REFUSED or function is vars and not args:
            self.refuse(f"it calls {function.__name__}(), which reads what cannot be observed")
        if function is print and not self.converted:
            return ObservedCall(self._print), *self._read_arguments(args, named)
        if function in _CLASS_QUERIES:
            self._guard_class_test(function, args)
            return function, args, named
        if function in (getattr, hasattr):
            return ObservedCall(self._get_attribute, function), args, named
        if function in (setattr, delattr) and len(args) > 1:
            self.before_set_attribute(*args[:2])
            return function, args, named
        if args and function in (len, iter):
            return self._prepare_protocol(function, args, named)
        return self._prepare_other_builtin(function, args, named)

    def _prepare_other_builtin(self, function: Any, args: Args, named: Named) -> Prepared:
        """A builtin without a rule of its own: a method, or a function that reads its arguments alone."""
        owner = getattr(function, "__self__", None)
        if isinstance(owner, ft._lru_cache_wrapper):
            self._read_cache(function)
        if owner is not None and not isinstance(owner, types.ModuleType):
            return self._prepare_method(function, owner, args, named)
        module = _module_of(function)
        if package_of(module) not in _KNOWN or module.startswith("numpy.random"):
            self.mark_unguarded(f"it calls {module}.{function.__name__}")
        return function, *self._read_arguments(args, named)

    def _prepare_protocol(self, function: Any, args: Args, named: Named) -> Prepared:
        """`len(x)`, `iter(x)` or `iter(x, end)`."""
        if function is iter:
            if len(args) == 1:
                return function, [self.read_iterable(args[0])], named
            return function, *self._read_arguments(args, named)
        method = self.user_method(args[0], "__len__")
        if method is not None:
            return self.prepare_call(method, args, named)
        self.read_length(args[0])
        return function, args, named

    def _print(self, *args: Any, **named: Any) -> None:
        """Lets each call print; the program prints Tensors where its code is converted."""
        # The text of a traced Tensor is not known yet: the function runs eagerly then.
        if any(isinstance(a, Tensor) for a in args):
            raise TracedValueError("print")
        self.capture.writes(print, tuple(map(str, args)), named)

    def _log(self, function: Any, *args: Any, **named: Any) -> None:
        """Lets each call write to the log."""
        if any(isinstance(a, Tensor) for a in (*args, *named.values())):
            self.refuse("it logs a tensor, which would happen while compiling only")
        self.capture.writes(function, args, named)

    def _guard_class_test(self, function: Any, args: Args) -> None:
        """Guards the result of `callable`, and of `isinstance` and `issubclass` for abstract classes."""
        if args and function in (isinstance, callable):
            self.guard_class(args[0])
        if function is callable and args:
            self._class_attribute(type(args[0]).__mro__, "__call__")
        elif function in (isinstance, issubclass) and len(args) == 2:
            kind = args[0] if function is issubclass else type(args[0])
            # A class with a metaclass may answer `isinstance` by code of its own.
            if isinstance(kind, type) and any(
                type(c) is not type for c in (args[1] if isinstance(args[1], tuple) else (args[1],))
            ):
                self.guards.guard_result(lambda: issubclass(kind, args[1]), "the class of an object")

    def _prepare_method(self, function: Any, owner: Any, args: Args, named: Named) -> Prepared:
        """A method, written in C, of a container or another object."""
        args, named = self._read_arguments(args, named)
        if isinstance(owner, CONTAINERS):
            local.ctx.frame.on_object_change(owner)
        if isinstance(owner, type) and function.__name__ in ("__subclasses__", "mro"):
            self.guards.guard_result(function, f"the classes of {owner.__name__}")
        # Its own containers and constants: the content is known.
        if id(owner) in self.created or isinstance(
            owner, (str, bytes, int, float, Tensor, tuple, range, type)
        ):
            return function, args, named
        # A key that is not there is guarded as well.
        if isinstance(owner, dict) and function.__name__ == "get":
            self.read_value(dict.get(owner, args[0], MISSING), owner, args[0], self.guards.entries)
        elif (
            isinstance(owner, (list, dict, set, np.ndarray, array.array, bytearray))
            or type(owner).__module__ == "collections"
        ):
            if function.__name__ not in _MUTATING_METHODS:
                self.read_content(owner, objects=function.__name__ not in _VIEW_METHODS)
        elif type(owner).__module__ == "_contextvars" and function.__name__ == "get":
            return self._repeated_query(function, args, named, True), args, named
        elif package_of(type(owner).__module__) not in _KNOWN or type(owner).__module__.startswith(
            "numpy.random"
        ):
            self.mark_unguarded(f"it calls {type(owner).__name__}.{function.__name__}")
        return function, args, named

    def _get_attribute(self, function: Any, owner: Any, name: str, *default: Any) -> Any:
        try:
            value = self.read_attribute(owner, name)
        except AttributeError:
            if function is hasattr:
                return False
            if default:
                return default[0]
            raise
        if function is hasattr:
            return True
        return value

    def _prepare_object(self, function: Any, kind: type, args: Args, named: Named) -> Prepared:
        if isinstance(function, ModuleBase):
            # that of Layer itself a profiler exchanges
            # A profiler replaces the method of Layer while it measures.
            self._class_attribute(kind.__mro__[: kind.__mro__.index(library_class(kind))], "__call__")
            return function, args, named
        if kind is operator.attrgetter:
            return ObservedCall(self._get_attributes, function.__reduce__()[1]), args, named
        if kind is operator.itemgetter and len(function.__reduce__()[1]) == 1:
            return (
                ObservedCall(lambda container: self.read_item(container, function.__reduce__()[1][0])),
                args,
                named,
            )
        if kind is ft._lru_cache_wrapper:
            return self._prepare_cached(function, args, named)
        inner = getattr(function, "dygraph_function", None)
        if inner is not None and not self.converted:
            return self.prepare_call(inner, args, named)
        method = inspect.getattr_static(kind, "__call__", None)
        if self.is_user_function(method):
            self._class_attribute(kind.__mro__, "__call__")
            return self.prepare_call(method, (function, *args), named)
        module = getattr(function, "__module__", None) or kind.__module__ or ""
        other = package_of(module) not in _KNOWN and package_of(kind.__module__) not in LIBRARIES
        if other or self._is_random(module, args, named):
            self.mark_unguarded(f"it calls a {kind.__module__}.{kind.__name__}")
        return function, *self._read_arguments(args, named)

    def _is_random(self, module: str, args: Args, named: Named) -> bool:
        """Whether a function of a module draws random numbers, other than from a generator that the function
        has made of a number."""
        if not module.startswith("numpy.random"):
            return False
        first = next(iter((*args, *named.values())), None)
        return not (type(first) is int or id(first) in self.created)

    def _get_attributes(self, names: Sequence[str], owner: Any) -> Any:
        values = [ft.reduce(self.read_attribute, name.split("."), owner) for name in names]
        if len(values) == 1:
            return values[0]
        return tuple(values)

    def _read_cache(self, method: Any) -> None:
        """A method of a function behind functools.lru_cache: what has gone through it, or its clearing,
        which each call does again."""
        if method.__name__ == "cache_parameters":  # they are fixed
            return
        self.mark_unguarded(f"it calls {method.__name__} of a cached function")

    def _prepare_cached(self, function: Any, args: Args, named: Named) -> Prepared:
        """A function behind functools.lru_cache: it is asked again at each call, as in eager execution, and
        has to give the same object, or an equal number."""
        if any(isinstance(a, Tensor) for a in (*args, *named.values())):
            self.refuse(f"{function.__name__} caches what it gives for Tensors")

        def unobserved(*args: Any, **named: Any) -> Any:
            # The hook would take the user's function for unobserved code.
            value = run_unrecorded(lambda: function(*args, **named))
            if any(holds_tracer(t) for t in _tensors(value)):
                # The tracers in it would be found by the next call, after the run.
                function.cache_clear()  # of what this run has put into it
                self.refuse(f"{function.__name__} caches a Tensor; call it once before, or outside")
            self.guards.guard_result(
                lambda: _is_same(value, function(*args, **named)),
                f"the cache of {function.__name__}",
                (id(function), args, tuple(named.items())),
                value=True,
            )
            return value

        return CachedCall(unobserved), args, named

    # layers -------------------------------------------------------------------------------------------------

    def instance_forward(self, own: dict[str, Any]) -> Any:
        """The `forward` that a Layer itself has, without the one that converted code puts
        there for a while."""
        forward = own.get("forward", MISSING)
        # Marked by the conversion: it is not the Layer's own.
        if hasattr(getattr(forward, "__func__", forward), "autograph_info__"):
            return MISSING
        return forward

    def _refuse_dynamic(self, thing: Any) -> None:
        """Refuses a function or Layer that is marked to run eagerly."""
        if getattr(thing, DYNAMIC, False) and not self.capture.full_graph:
            self.refuse(f"{getattr(thing, '__qualname__', type(thing).__name__)} is marked by force_dynamic")

    def observed_forward(self, layer: ModuleBase) -> Any:
        """The `forward` of a Layer that is being called, observed."""
        self._refuse_dynamic(layer)
        self.guard_class(layer)
        # one that to_static has compiled is a part here
        own = layer.__dict__
        forward = getattr(layer.forward, "dygraph_function", layer.forward)
        table = self.guards.entries
        # Layers that PackageGuards know are compared only when an attribute of a Layer was set.
        if id(layer) in self.guarded_layers and self.layer_forwards is not None:
            table = self.layer_forwards  # compared only when an attribute of a Layer was set
        table.add(own, "forward", self.instance_forward(own))
        self._class_attribute(type(layer).__mro__, "forward")
        return self._run_form(forward)


def _module_of(function: Any) -> str:
    """The name of the module of a function or method that is written in C."""
    module = getattr(function, "__module__", None)
    if not module:
        module = getattr(getattr(function, "__objclass__", None), "__module__", None)
    return module or "builtins"


def _tensors(value: Any) -> list[Tensor]:
    """The Tensors in a value, and in the containers that it is made of."""
    return [
        leaf
        for leaf in jax.tree.leaves(value, is_leaf=lambda x: isinstance(x, Tensor))
        if isinstance(leaf, Tensor)
    ]


def _is_same(value: Any, now: Any) -> bool:
    return now is value or type(value) in SCALARS and same_value(value, now)


def makes_new(cls: Any) -> bool:
    """Whether each call of a class makes a new object."""
    return type(cls).__call__ is type.__call__ and cls.__new__ in _ALLOCATORS


def _compiled(function: types.FunctionType) -> types.CodeType:
    """Code that makes the observed form of a function, given its observer."""
    try:
        node = state_access.rewrite_reads(
            syntax_of(function), function.__code__.co_freevars, class_name_of(function)
        )
    # Python's recursion limit, for instance in a long chain of `+`.
    except RecursionError:
        raise state_access.Unobservable("its source is nested too deep") from None
    return compile_factory(wrap_in_factory(node, "observed__", function, state_access.OBSERVER), function)
