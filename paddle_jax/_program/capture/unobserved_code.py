"""Which functions of the user run."""

import gc
import sys

from paddle_jax._core.base.caller_info import ARRAYS, LIBRARIES, PYTHONS, package_of
from paddle_jax._core.base.signal_handlers import HandlerProxy

_OTHERS = PYTHONS.union(LIBRARIES, ARRAYS, ("malt", "etils", "absl", "typing_extensions"))
# imports; JAX tells its listeners what it does
_ASIDE = ("importlib._bootstrap", "_frozen_importlib", "jax._src.monitoring")


class CodeRecorder:
    """Between `begin` and `end`, notes the functions that run, by the hook for profilers, or the one for
    debuggers where a profiler is at work. With both at work it knows nothing.

    codes: those of the user's functions. others: global variables of modules that are not the user's, by id.
    """

    def __init__(self):
        self.codes, self.others = {}, {}
        self._set = (
            sys.setprofile if sys.getprofile() is None else sys.settrace if sys.gettrace() is None else None
        )
        self.known = self._set is not None

    def begin(self):
        """Notes from now on."""
        if self.known:
            self._set(self._note)

    def end(self):
        """Notes no longer."""
        if self.known:
            self._set(None)

    def _note(self, frame, event, arg):
        scope = frame.f_globals
        if event != "call" or id(scope) in self.others:
            return
        package = package_of(scope)
        if package in _OTHERS or package.startswith("namedtuple_"):
            self.others[id(scope)] = scope
        elif frame.f_code not in self.codes and not _is_aside(frame):
            self.codes[frame.f_code] = None


def _is_aside(frame):
    """Whether code has nothing to do with the function that runs: the text that a library executes, what runs
    while a module is imported, what runs whenever the garbage collector does or an object is thrown away,
    handlers of signals, and listeners of `jax.monitoring`. What they change of the things that the function
    reads is found out, as all changes are."""
    if (
        frame.f_code.co_name == "<module>"
        and frame.f_back is not None
        and package_of(frame.f_back.f_globals) in _OTHERS
    ):
        return True
    collecting = [*[_code_of(callback) for callback in gc.callbacks], HandlerProxy.__call__.__code__]
    while frame is not None:
        code, module = frame.f_code, frame.f_globals.get("__name__")
        if (
            code.co_name == "__del__"
            or module in _ASIDE
            or code in collecting
            or module == "weakref"
            and code.co_name == "__call__"
        ):
            return True
        frame = frame.f_back
    return False


def _code_of(callback):
    """The code of a function, of a method, or of an object that can be called."""
    for form in (callback, getattr(callback, "__func__", None), getattr(type(callback), "__call__", None)):  # noqa: B004
        if hasattr(form, "__code__"):
            return form.__code__
    return None
