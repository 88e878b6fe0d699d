"""Messages on standard error at Paddle's levels: GLOG_v in the environment, `paddle.base.core.set_vlog_level` later.

Level 0 is always printed (unless GLOG_minloglevel is 1 or more), 1: what was compiled, or not, and why; 2: each run of recorded operations and of a
compiled program; 3: each operation, which then runs by itself.
"""

import os
import sys


def _number(name):
    text = os.environ.get(name, "0")
    return int(text) if text.lstrip("-").isdigit() else 0


class Verbose:
    """level: the highest that is printed; -1 prints nothing."""

    level = -1 if _number("GLOG_minloglevel") > 0 else _number("GLOG_v")


def vlog(level, text):
    """Prints a line, where the level is that high."""
    if level <= Verbose.level:
        print(f"paddle_jax: {text}", file=sys.stderr)
