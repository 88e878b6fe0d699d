"""A log of the deferred tier, which `paddle_jax.explain()` shows."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from paddle_jax._core.base.vlog import vlog

_KEPT_EVENTS = 200


class _Log:
    """Counts since the last `clear`, and the last events as sentences.

    Attributes:
        segments: int, segments that ran.
        compiled_runs: int, segments that ran as a compiled program.
        compiles: int, compiled segments.
        compile_seconds: float, the time that compiling took.
        background_seconds: float, the part of it in another thread, while the program went on.
        interpreted_ops: int, operations that ran in NumPy.
        filled_templates: int, kernels whose equations for a new shape came from a template.
        refusals: Counter of the reasons why operations were not interpreted.
        guard_failures: Counter of the kinds of guards for which a function was compiled again.
        flat_buffers: Counter of what happened to flat buffers of compiled steps.
        events: deque of str.
    """

    __slots__ = (
        "_before_clear",
        "background_seconds",
        "compile_seconds",
        "compiled_runs",
        "compiles",
        "events",
        "filled_templates",
        "flat_buffers",
        "guard_failures",
        "interpreted_ops",
        "refusals",
        "segments",
    )

    def __init__(self) -> None:
        self._before_clear: collections.Counter[str] = collections.Counter()
        self.segments = 0
        self.compiled_runs = 0
        self.interpreted_ops = 0
        self.clear()

    def total(self, name: str) -> int:
        """A count since the process began."""
        return self._before_clear[name] + getattr(self, name)

    def clear(self) -> None:
        """Sets all counts to zero, and forgets the events; totals stay."""
        self._before_clear.update(
            segments=self.segments, compiled_runs=self.compiled_runs, interpreted_ops=self.interpreted_ops
        )
        self.segments = 0
        self.compiled_runs = 0
        self.compiles = 0
        self.compile_seconds = 0.0
        self.background_seconds = 0.0
        self.interpreted_ops = 0
        self.filled_templates = 0
        self.refusals: collections.Counter[str] = collections.Counter()
        self.guard_failures: collections.Counter[str] = collections.Counter()
        self.flat_buffers: collections.Counter[str] = collections.Counter()
        self.events: collections.deque[str] = collections.deque(maxlen=_KEPT_EVENTS)

    def add(self, text: str) -> None:
        """Adds an event."""
        self.events.append(text)
        vlog("compile", text)


log = _Log()

# called with each new compiled form: ("segment", CompiledSegment, leaves), or
# ("to_static", StaticFunction, (arguments, keyword arguments))
compile_listeners: list[Callable[[str, Any, Any], None]] = []
