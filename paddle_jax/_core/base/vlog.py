"""Messages on standard error at Paddle's levels.

GLOG_v and GLOG_vmodule in the environment set the levels, `paddle.base.core.set_vlog_level` changes them.
Level 0 is always printed, unless GLOG_minloglevel is 1 or more. Each kind of message has its level: MODULES.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

# From which level on a kind of message is printed:
MODULES = {
    "memory": 0,  # the flags of the allocator
    "compile": 1,  # what was compiled, or not, and why
    "segment": 2,  # each run of recorded operations and of a compiled program
    "operation": 3,  # each operation, which then runs alone
}
level_listeners: list[Callable[[], None]] = []  # called after each change of levels


def _number(name: str) -> int:
    """A level from the environment; 0 where there is none."""
    text = os.environ.get(name, "0")
    if text.lstrip("-").isdigit():
        return int(text)
    return 0


def _levels_by_module(text: str) -> dict[str, int]:
    """Levels from a text such as "compile=1,segment=2"."""
    pairs = [part.partition("=") for part in text.split(",")]
    return {name.strip(): int(level) for name, _, level in pairs if level.strip().lstrip("-").isdigit()}


class Verbose:
    """The levels in use.

    Attributes:
        level: int, the highest level that is printed; -1 prints nothing.
        modules: dict, levels of single kinds of messages, which go first.
    """

    if _number("GLOG_minloglevel") > 0:
        level = -1
    else:
        level = _number("GLOG_v")
    modules: dict[str, int] = _levels_by_module(os.environ.get("GLOG_vmodule", ""))

    @staticmethod
    def wants(module: str) -> bool:
        """Whether messages of a kind are printed."""
        return MODULES[module] <= Verbose.modules.get(module, Verbose.level)


def vlog(module: str, text: str) -> None:
    """Prints a message of a kind, if its level is on."""
    if Verbose.wants(module):
        print(f"paddle_jax: {text}", file=sys.stderr)


def set_levels(module_levels: Any) -> tuple[int, dict[str, int]]:
    """Sets the level of all messages (an int), or of kinds of messages (a dict; "*" means all).

    Returns:
        The level and the dict before.
    Raises:
        TypeError: module_levels is neither.
    """
    before = Verbose.level, dict(Verbose.modules)
    if isinstance(module_levels, int):
        levels = {"*": module_levels}
    else:
        levels = module_levels
    if not isinstance(levels, dict) or not all(
        isinstance(name, str) and isinstance(level, int) for name, level in levels.items()
    ):
        raise TypeError(
            f"set_vlog_level: module_levels: got {module_levels!r}; "
            "it must be an int, or a dict such as {'*': 1, 'compile': 2}"
        )
    for name, level in levels.items():
        if name == "*":
            Verbose.level = level
        else:
            Verbose.modules[name] = level
    return before


def _notify() -> None:
    for listener in level_listeners:
        listener()


def set_vlog_level(module_levels: Any) -> None:
    """Chooses which messages about its own work the library prints on standard error.

    Args:
        module_levels: int, the level of all messages, as GLOG_v (1: what is compiled and why; 2: also each
            run of recorded operations; 3: also each operation, which then runs alone); or a dict of
            levels by kind, as GLOG_vmodule: "compile", "segment", "operation", "*" for all.
    Raises:
        TypeError: it is neither.
    Example:
        >>> paddle.base.core.set_vlog_level({"compile": 1})
        >>> paddle.base.core.set_vlog_level({"*": 0, "compile": 0})
    """
    set_levels(module_levels)
    _notify()


@contextlib.contextmanager
def vlog_guard(module_levels: Any) -> Iterator[None]:
    """Context in which the library prints the messages that `set_vlog_level(module_levels)` chooses.

    Example:
        >>> with paddle.base.framework.vlog_guard(0):
        ...     paddle.ones([1]).item()
        1.0
    """
    before = set_levels(module_levels)
    _notify()
    try:
        yield
    finally:
        Verbose.level, Verbose.modules = before
        _notify()
