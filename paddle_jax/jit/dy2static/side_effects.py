"""Python objects that traced code must leave alone: a branch runs while both are compiled, a loop's body runs
once whatever the number of steps.

Variables, attributes and dict items that the code assigns are known to the conversion and become results.
What else it changes (`list.append` in a loop, an attribute set in a function it calls) would happen once, or
in both branches; it is found here by comparing before and after.
"""

import types

from paddle_jax._core.capture.environment import CONTAINERS, MISSING, Snapshot, variables_of
from paddle_jax._core.errors import Unsupported
from paddle_jax._core.runtime.origins import OURS
from paddle_jax._core.tensor import Tensor

_DEPTH, _MOST = 5, 4000
_SKIPPED = (types.ModuleType, type, Tensor, str, bytes, int, float, complex, type(None), types.CodeType,
            types.BuiltinFunctionType)
_NOT_USERS = ("jax", "malt", "numpy",
              *(f"{package}.{part}" for package in OURS for part in ("_core", "base.", "framework.")))


class Objects:
    """The lists, dicts, sets, objects and variables of enclosing functions that functions can reach,
    with what they held."""

    def __init__(self, functions):
        self.snapshot, self.seen = Snapshot(), set()
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
        elif isinstance(thing, CONTAINERS):
            self.snapshot.hold(thing, f"the {type(thing).__name__} {name!r}")
            for item in list(thing.values() if isinstance(thing, dict) else thing):
                self._visit(item, depth + 1, name)
        elif (not type(thing).__module__.startswith(_NOT_USERS)
              and isinstance(getattr(thing, "__dict__", None), dict)):
            self.snapshot.hold(thing.__dict__, f"an attribute of {name or type(thing).__name__!r}")
            for key, item in list(thing.__dict__.items()):
                self._visit(item, depth + 1, f"{name or type(thing).__name__}.{key}")

    def _visit_function(self, function, depth):
        for place, name, value in variables_of(function):
            if (value is MISSING or name == "ag__"
                    or isinstance(place, dict) and isinstance(value, types.ModuleType | type)):
                continue
            inner = isinstance(value, types.FunctionType)
            if isinstance(place, dict) and inner:
                if not (value.__globals__.get("__name__") or "").startswith(_NOT_USERS):
                    self._visit(value, depth + 1, name)
                continue
            self.snapshot.variables.append((place, name, value))
            if not isinstance(place, dict) or isinstance(value, CONTAINERS):
                self._visit(value, depth if inner else depth + 1, name)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        """Puts back what has changed while the code ran, and raises Unsupported if something has; likewise
        for a recursion without an end."""
        changed = self.snapshot.restore()
        if isinstance(error, RecursionError):
            raise Unsupported("a recursion ends depending on a tensor; use a loop") from None
        if changed and error is None:
            raise Unsupported(f"{changed[0]} is changed inside a compiled branch or loop, which would happen "
                              "while compiling only; return the value instead, or keep it in a Tensor")
