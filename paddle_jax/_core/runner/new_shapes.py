"""Decides when a program is compiled for new shapes.

A saved model, a compiled function or a run of a static program is compiled for the shapes of its inputs. That
takes seconds where running it takes milliseconds. A call with new shapes runs op by op; these shapes are
compiled once they have come so often that compiling pays. The decision rests on counts and estimates alone,
never on a clock, so a program switches at the same call in every run.
"""

import collections
import threading
from collections.abc import Callable, Hashable
from typing import Any

from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.devices import default_device, may_interpret
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.runner.tiering import runs_before_compiling

_MAX_SHAPES = 1 << 12
_UNKNOWN_THRESHOLD = 10  # calls before compiling, where the ops of a call cannot be counted
_MAX_THRESHOLD = 50  # calls before compiling: the estimate leaves out the Python code around the ops


class NewShapes:
    """The calls of one program with shapes that it is not compiled for.

    Attributes:
        calls: the calls so far by shapes, least recently used first.
        thresholds: by shapes, the call at which compiling pays.
        lock: guards both.
    """

    def __init__(self) -> None:
        self.calls: collections.OrderedDict[Hashable, int] = collections.OrderedDict()
        self.thresholds: dict[Hashable, int] = {}
        self.lock: threading.Lock = threading.Lock()

    def runs_op_by_op(self, shapes: Hashable) -> bool:
        """Whether a call with these shapes runs op by op; False: compile them. Counts the call."""
        if local.ctx.segment is None or not may_interpret(default_device()):
            return False
        with self.lock:
            count = self.calls.pop(shapes, 0) + 1
            if count >= (settings.min_repeats or self.thresholds.get(shapes, 2)):
                self.thresholds.pop(shapes, None)
                return False
            self.calls[shapes] = count
            if len(self.calls) > _MAX_SHAPES:
                oldest, _ = self.calls.popitem(last=False)
                self.thresholds.pop(oldest, None)
        return True

    def run(self, shapes: Hashable, call: Callable[[], Any]) -> Any:
        """The result of a call that runs op by op. The first one shows what compiling these shapes costs."""
        ctx = local.ctx
        segment = ctx.segment
        start = len(segment.ops)
        result = call()
        if shapes not in self.thresholds:
            ops = segment.ops[start:] if ctx.segment is segment else None
            if ops:
                threshold = runs_before_compiling(ops, default_device())
            else:
                threshold = _UNKNOWN_THRESHOLD
            self.thresholds[shapes] = min(threshold, _MAX_THRESHOLD)
        return result
