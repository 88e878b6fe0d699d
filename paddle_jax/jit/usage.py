"""Which names the code that runs uses: what else changes outside does not matter to it."""

import dis
import functools as ft
import sys

from paddle_jax._core.origins import ENGINE, package_of
from paddle_jax.jit.guards import SCALARS

_OTHERS = frozenset((*ENGINE, "numpy", "malt", *sys.stdlib_module_names)) - {"__main__"}
_ANY = frozenset(("getattr", "vars", "eval", "exec", "globals", "locals"))  # builtins that lead to names that stand nowhere


class Usage:
    """Between `begin` and `end`, notes the functions that run. With a profiler at work it knows nothing, and everything counts as used."""

    def __init__(self):
        self.codes, self.known = {}, sys.getprofile() is None

    def begin(self):
        if self.known:
            sys.setprofile(self._note)

    def end(self):
        if self.known:
            sys.setprofile(None)

    def _note(self, frame, event, arg):
        if event == "call":
            self.codes[frame.f_code] = frame.f_globals

    def test(self):
        """A function (name, value) -> whether the code that ran may have used a value of that name."""
        loaded, called, bare = set(), set(), set()
        for code, scope in self.codes.items():
            if package_of(scope) not in _OTHERS:
                more = _names(code)
                loaded |= more[0]
                called |= more[1]
                bare |= more[2]
        if not self.known or not _ANY.isdisjoint(bare) or "__dict__" in loaded:
            return lambda name, value: True
        return lambda name, value: not isinstance(name, str) or name in loaded or (name in called and type(value) not in SCALARS)


@ft.lru_cache(maxsize=4096)
def _names(code):
    """The names that code loads as values (or has as texts), those it calls as methods (a number is never called), and those that are globals."""
    loaded, called, bare = {text for text in code.co_consts if type(text) is str}, set(), set()
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_METHOD" or step.opname == "LOAD_ATTR" and sys.version_info >= (3, 12) and step.arg & 1:
            called.add(step.argval)
        elif step.opname.startswith(("LOAD_ATTR", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_SUPER_ATTR", "IMPORT_FROM")):
            loaded.add(step.argval)
            if step.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME")):
                bare.add(step.argval)
    return loaded, called, bare
