"""Which functions of the user run."""

import sys

from paddle_jax._core.origins import ARRAYS, LIBRARIES, package_of

_OTHERS = frozenset((*LIBRARIES, *ARRAYS, "malt", "etils", "absl", "typing_extensions", *sys.stdlib_module_names)) - {"__main__"}


_IMPORTING = ("importlib._bootstrap", "_frozen_importlib")


class Usage:
    """Between `begin` and `end`, notes the functions that run. With a profiler at work it knows nothing."""

    def __init__(self):
        self.codes, self.others, self.known = {}, {}, sys.getprofile() is None

    def begin(self):
        if self.known:
            sys.setprofile(self._note)

    def end(self):
        if self.known:
            sys.setprofile(None)

    def _note(self, frame, event, arg):
        scope = frame.f_globals
        if event != "call" or id(scope) in self.others:
            return
        package = package_of(scope)
        if package in _OTHERS or package.startswith("namedtuple_"):
            self.others[id(scope)] = scope
        elif frame.f_code not in self.codes and not _is_aside(frame):
            self.codes[frame.f_code] = None

    def unobserved(self, observed):
        """The code objects of the user's functions that ran, without those whose reads were observed."""
        return [code for code in self.codes if code not in observed]


def _is_aside(frame):
    """Whether code has nothing to do with the function that runs: the text that a library executes, what runs while a module is imported or when an
    object is thrown away."""
    if frame.f_code.co_name == "<module>" and frame.f_back is not None and package_of(frame.f_back.f_globals) in _OTHERS:
        return True
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_globals.get("__name__") in _IMPORTING:
            return True
        frame = frame.f_back
    return False
