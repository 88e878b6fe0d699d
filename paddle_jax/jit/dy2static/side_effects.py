"""Python objects that traced code must leave alone: a branch runs while both are compiled, a loop's body runs once whatever the number of steps.

Variables, attributes and dict items that the code assigns are known to the conversion and become results. What else it changes (`list.append` in a
loop, an attribute set in a function it calls) would happen once, or in both branches; it is found here by comparing before and after.
"""

import collections
import functools as ft
import types

from paddle_jax._core.errors import Unsupported
from paddle_jax._core.origins import OURS
from paddle_jax._core.tensor import Tensor
from paddle_jax.jit.reach import MISSING, content_of

_DEPTH, _MOST = 5, 4000
_CONTAINERS = (list, dict, set, collections.deque)
_SKIPPED = (types.ModuleType, type, Tensor, str, bytes, int, float, complex, type(None), types.CodeType, types.BuiltinFunctionType)
_NOT_USERS = ("jax", "malt", "numpy", *(f"{package}.{part}" for package in OURS for part in ("_core", "base.", "framework.")))


class Objects:
    """The lists, dicts, sets, objects and variables of enclosing functions that functions can reach, with what they held."""

    def __init__(self, functions):
        self.held, self.variables, self.seen = [], [], set()
        for function in functions:
            self._visit(function, 0, "")

    def _visit(self, thing, depth, name):
        if isinstance(thing, _SKIPPED) or id(thing) in self.seen or depth > _DEPTH or len(self.seen) > _MOST:
            return
        self.seen.add(id(thing))
        if isinstance(thing, types.MethodType):
            self._visit(thing.__self__, depth, name)
            self._visit(thing.__func__, depth, name)
        elif isinstance(thing, types.FunctionType):
            self._visit_function(thing, depth)
        elif isinstance(thing, tuple):
            for item in thing:
                self._visit(item, depth + 1, name)
        elif isinstance(thing, _CONTAINERS):
            self._hold(thing, f"the {type(thing).__name__} {name!r}")
            for item in list(thing.values() if isinstance(thing, dict) else thing):
                self._visit(item, depth + 1, name)
        elif not type(thing).__module__.startswith(_NOT_USERS) and isinstance(getattr(thing, "__dict__", None), dict):
            self._hold(thing.__dict__, f"an attribute of {name or type(thing).__name__!r}")
            for key, item in list(thing.__dict__.items()):
                self._visit(item, depth + 1, f"{name or type(thing).__name__}.{key}")

    def _visit_function(self, function, depth):
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            content = content_of(cell)
            if name != "ag__" and content is not MISSING:
                self.variables.append((ft.partial(content_of, cell), ft.partial(setattr, cell, "cell_contents"), content, name))
                self._visit(content, depth if isinstance(content, types.FunctionType) else depth + 1, name)
        outside = function.__globals__
        for name in function.__code__.co_names:
            content = outside.get(name, MISSING)
            if isinstance(content, types.FunctionType):
                if not (content.__globals__.get("__name__") or "").startswith(_NOT_USERS):
                    self._visit(content, depth + 1, name)
            elif content is not MISSING and not isinstance(content, types.ModuleType | type):
                self.variables.append((ft.partial(outside.get, name), ft.partial(outside.__setitem__, name), content, name))
                if isinstance(content, _CONTAINERS):
                    self._visit(content, depth + 1, name)

    def _hold(self, thing, name):
        self.held.append((thing, thing.copy(), name))

    def restore(self):
        """Puts back what has changed; returns what that is, in words."""
        names = []
        for thing, before, name in self.held:
            if _differs(thing, before):
                thing.clear()
                (thing.update if isinstance(thing, dict | set) else thing.extend)(before)
                names.append(name)
        for get, put, before, name in self.variables:
            if not _same(get(), before):
                put(before)
                names.append(f"the variable {name!r}")
        return names

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        """Puts back what has changed while the code ran, and raises Unsupported if something has; likewise for a recursion without an end."""
        changed = self.restore()
        if isinstance(error, RecursionError):
            raise Unsupported("a recursion ends depending on a tensor; use a loop") from None
        if changed and error is None:
            raise Unsupported(f"{changed[0]} is changed inside a compiled branch or loop, which would happen while compiling only; "
                              "return the value instead, or keep it in a Tensor")


def _differs(thing, before):
    if len(thing) != len(before):
        return True
    if isinstance(thing, set):
        return thing != before
    if isinstance(thing, dict):
        return any(k not in before or not _same(v, before[k]) for k, v in thing.items())
    return not all(map(_same, thing, before))


def _same(a, b):
    return a is b or (type(a) is type(b) and isinstance(a, bool | int | float | str) and a == b)
