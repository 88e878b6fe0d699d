"""Records which functions of the user run, to find those that no observer sees."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Callable
from typing import Any

from paddle_jax._core.base.caller_info import ARRAYS, LIBRARIES, PYTHONS, package_of
from paddle_jax._core.base.interrupt_safe import UserCodeHook
from paddle_jax._core.base.signal_handlers import HandlerProxy

_LIBRARY_PACKAGES = PYTHONS.union(LIBRARIES, ARRAYS, ("malt", "etils", "absl", "typing_extensions"))
# code that runs while a module is imported, code that JAX runs to tell its listeners what it does, and code
# that runs while devices start (plugins, hooks of the fork that makes the server of workers)
_UNRELATED_MODULES = (
    "importlib._bootstrap",
    "_frozen_importlib",
    "jax._src.monitoring",
    "paddle_jax._core.process_group.startup_barrier",
)


class CodeRecorder(UserCodeHook):
    """Between `begin` and `end`, records the functions that run.

    It uses the hook for profilers, or the one for debuggers while a profiler runs. While both run it knows
    nothing.

    Attributes:
        codes: dict whose keys are the code objects of the user's functions, in the order of their calls.
        library_scopes: {id: global variables} of modules that are not the user's.
        known: whether a hook is free.
    """

    def __init__(self) -> None:
        self.codes: dict[types.CodeType, None] = {}
        self.library_scopes: dict[int, dict[str, Any]] = {}
        self._set_hook: Callable[[Any], None] | None = None
        # The observer misses code that is called through C or a library; the hook sees every Python
        # function.
        if sys.getprofile() is None:
            self._set_hook = sys.setprofile
        elif sys.gettrace() is None:
            self._set_hook = sys.settrace
        self.known = self._set_hook is not None

    def begin(self) -> None:
        """Records from now on."""
        if self._set_hook is not None:
            self._set_hook(self._record)

    def end(self) -> None:
        """Records no longer."""
        if self._set_hook is not None:
            self._set_hook(None)

    def _record(self, frame: types.FrameType, event: str, arg: Any) -> None:
        # This runs at each call of any function and at each return, so what is most frequent comes first.
        if event != "call":
            return
        scope = frame.f_globals
        if id(scope) in self.library_scopes:  # modules are looked at once
            return
        package = package_of(scope)
        if package in _LIBRARY_PACKAGES or package.startswith("namedtuple_"):
            # The scope itself is kept, so that its id is not used again.
            self.library_scopes[id(scope)] = scope
        elif frame.f_code not in self.codes and not _is_unrelated(frame):
            self.codes[frame.f_code] = None


def _is_unrelated(frame: types.FrameType) -> bool:
    """Whether code has nothing to do with the function that runs.

    Such code is the text that a library executes, code that runs while a module is imported, callbacks of the
    garbage collector, finalizers, handlers of signals, listeners of `jax.monitoring`, and all that runs while
    devices start. The guards notice what it changes, as all changes.
    """
    caller = frame.f_back
    if frame.f_code.co_name == "<module>" and caller is not None:
        if package_of(caller.f_globals) in _LIBRARY_PACKAGES:
            return True
    callbacks = [*[_code_of(callback) for callback in gc.callbacks], HandlerProxy.__call__.__code__]
    # Up the stack: a finalizer may call other functions.
    outer: types.FrameType | None = frame
    while outer is not None:
        code = outer.f_code
        module = outer.f_globals.get("__name__")
        is_finalizer = code.co_name == "__del__" or module == "weakref" and code.co_name == "__call__"
        if is_finalizer or module in _UNRELATED_MODULES or code in callbacks:
            return True
        outer = outer.f_back
    return False


def _code_of(callback: Any) -> types.CodeType | None:
    """The code of a function, of a method, or of an object that can be called."""
    for form in (callback, getattr(callback, "__func__", None), getattr(type(callback), "__call__", None)):  # noqa: B004
        code = getattr(form, "__code__", None)
        if code is not None:
            return code
    return None
