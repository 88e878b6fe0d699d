"""Messages on standard error at Paddle's levels: GLOG_v and GLOG_vmodule in the environment,
`paddle.base.core.set_vlog_level` later.

Level 0 is always printed (unless GLOG_minloglevel is 1 or more); each kind of message has its level: MODULES.
"""

import os
import sys

# from which level on: the allocator's flags; what was compiled, or not, and
MODULES = {"memory": 0, "compile": 1, "segment": 2, "operation": 3}
# why; each run of recorded operations and of a compiled program; each operation, which then runs by itself


def _number(name):
    text = os.environ.get(name, "0")
    return int(text) if text.lstrip("-").isdigit() else 0


def _by_module(text):
    pairs = [part.partition("=") for part in text.split(",")]
    return {name.strip(): int(level) for name, _, level in pairs if level.strip().lstrip("-").isdigit()}


class Verbose:
    """level: the highest that is printed; -1 prints nothing. modules: levels of single kinds of
    messages, which go first."""

    level = -1 if _number("GLOG_minloglevel") > 0 else _number("GLOG_v")
    modules: dict = _by_module(os.environ.get("GLOG_vmodule", ""))

    @staticmethod
    def wants(module):
        """Whether messages of a kind are printed."""
        return MODULES[module] <= Verbose.modules.get(module, Verbose.level)


def vlog(module, text):
    """Prints a line of a kind of messages, where it is wanted."""
    if Verbose.wants(module):
        print(f"paddle_jax: {text}", file=sys.stderr)


def set_levels(module_levels):
    """Sets the level of all messages (an int), or those of kinds of messages (a dict; "*" means all). Returns
    what was set before.

    Raises:
        TypeError: it is neither.
    """
    before = Verbose.level, dict(Verbose.modules)
    levels = {"*": module_levels} if isinstance(module_levels, int) else module_levels
    if not isinstance(levels, dict) or not all(
        isinstance(n, str) and isinstance(v, int) for n, v in levels.items()
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
