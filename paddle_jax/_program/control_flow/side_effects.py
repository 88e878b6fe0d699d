"""Python objects that traced code must leave alone: a branch runs while both are compiled, a loop's body runs
once whatever the number of steps.

Variables, attributes and dict items that the code assigns are known to the conversion and become results.
What else it changes (`list.append` in a loop, an attribute set in a function it calls) would happen once, or
in both branches; it is found here by comparing before and after.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, Self

from paddle_jax._core.base.caller_info import OURS
from paddle_jax._core.base.errors import Unsupported
from paddle_jax._core.execution.python_state import (
    CONTAINERS,
    MISSING,
    Snapshot,
    content_differs,
    members,
    variables_of,
)
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.control_flow.container_contents import ContainersChanged, changed_containers

_DEPTH = 5  # levels of objects inside objects
_MOST = 4000  # objects; searching more would take longer than tracing
_SKIPPED = (
    types.ModuleType,
    type,
    Tensor,
    str,
    bytes,
    int,
    float,
    complex,
    type(None),
    types.CodeType,
    types.BuiltinFunctionType,
)
# Objects of libraries change in ways of their own, and our rooms keep caches.
_NOT_USERS = (
    "jax",
    "malt",
    "numpy",
    *(f"{package}.{part}" for package in OURS for part in ("_core", "base.", "framework.")),
)


class UnchangedObjects:
    """The Python objects that functions can reach, with their contents at the beginning.

    These are lists, dicts, sets, other objects, and variables of enclosing functions.

    Attributes:
        snapshot: Snapshot of the contents.
        seen: set of the ids of the objects.
        may_change: set of the ids of lists and dicts that the functions may change.
    """

    def __init__(self, functions: Iterable[Any], may_change: Iterable[Any] = ()) -> None:
        self.snapshot = Snapshot()
        self.seen: set[int] = set()
        self.may_change = set(map(id, may_change))
        for function in functions:
            self._visit(function, 0, "")

    def _visit(self, value: Any, depth: int, name: str) -> None:
        # Cycles, deep structures and large ones end here: what lies deeper is not compared.
        if isinstance(value, _SKIPPED) or id(value) in self.seen or depth > _DEPTH or len(self.seen) > _MOST:
            return
        self.seen.add(id(value))
        if isinstance(value, types.MethodType):
            self._visit(value.__self__, depth, name)
            self._visit(value.__func__, depth, name)
        elif isinstance(value, types.FunctionType):
            self._visit_function(value, depth)
        elif isinstance(value, (tuple, *CONTAINERS)):
            # A tuple cannot change, but what it holds can.
            if not isinstance(value, tuple):
                self.snapshot.hold(value, f"the {type(value).__name__} {name!r}")
            for _, member in members(value):
                self._visit(member, depth + 1, name)
        # Objects of the user's classes, by their attributes.
        elif not type(value).__module__.startswith(_NOT_USERS) and isinstance(
            getattr(value, "__dict__", None), dict
        ):
            name = name or type(value).__name__
            self.snapshot.hold(value.__dict__, f"an attribute of {name!r}")
            for key, member in members(value.__dict__):
                self._visit(member, depth + 1, f"{name}.{key}")

    def _visit_function(self, function: Any, depth: int) -> None:
        for place, name, value in variables_of(function):
            if (
                # No value, malt's operators, and modules and classes under global names, which a function
                # does not change.
                value is MISSING
                or name == "ag__"
                or isinstance(place, dict)
                and isinstance(value, types.ModuleType | type)
            ):
                continue
            inner = isinstance(value, types.FunctionType)
            # A global function is visited for its own variables, and is not compared: who replaces it means
            # it.
            if isinstance(place, dict) and inner:
                if not (value.__globals__.get("__name__") or "").startswith(_NOT_USERS):
                    self._visit(value, depth + 1, name)
                # Global names are compared only where they hold a container: users' modules have many
                # constants.
                continue
            self.snapshot.variables.append((place, name, value))
            # A function inside the function is at the same depth as its variables.
            if not isinstance(place, dict) or isinstance(value, CONTAINERS):
                self._visit(value, depth if inner else depth + 1, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Puts back what has changed while the code ran, and raises Unsupported if something has; likewise
        for a recursion without an end."""
        different = [
            entry
            for entry in self.snapshot.held
            if id(entry[0]) not in self.may_change and content_differs(entry[0], entry[1])
        ]
        names = self.snapshot.restore()
        allowed = {entry[2] for entry in self.snapshot.held if id(entry[0]) in self.may_change}
        changed = [name for name in names if name not in allowed]
        # A recursion whose end depends on a Tensor is traced on both ways, so it never ends.
        if isinstance(error, RecursionError):
            raise Unsupported("a recursion ends depending on a tensor; use a loop") from None
        # An error comes first. It may be the reason for the change.
        if not changed or error is not None:
            return
        text = (
            f"{changed[0]} is changed inside a compiled branch or loop, which would happen "
            "while compiling only; return the value instead, or keep it in a Tensor"
        )
        # Lists and dicts can become results, and the code runs again with them.
        containers = changed_containers(different)
        # Something else has changed as well: no further run can help.
        if containers and {one.name for one in containers} == set(changed):
            raise ContainersChanged(text, containers)
        raise Unsupported(text)
