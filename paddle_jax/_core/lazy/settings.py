"""Settings of the deferred tier, process-wide, set through FLAGS_deferred* and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MODES = ("off", "sync", "async")


class _Settings:
    """The values of the settings; `recording.change_settings` changes them.

    Attributes:
        mode: str, the value of FLAGS_deferred.
        min_repeats: int, how often a segment is run before it is compiled as a whole; 0: decided by cost.
        max_ops: int, operations that a segment may have.
        background: bool, whether another thread compiles what recurs while NumPy goes on.
        interpreter: bool, whether new operations are interpreted on the CPU.
        code_mb: int, memory that compiled programs may take; 0: any.
        pending_mb: int, memory that pending operations may keep from being freed.
        executor: function (kernel, values) -> results in place of the usual one, or None. New threads take
            it over.
        enter: function that puts the Context of a new thread into static mode, or None while the main thread
            is not in it.
    """

    __slots__ = (
        "background",
        "code_mb",
        "enter",
        "executor",
        "interpreter",
        "max_ops",
        "min_repeats",
        "mode",
        "pending_mb",
    )

    def __init__(self) -> None:
        self.mode = "sync"
        self.min_repeats = 0
        self.max_ops = 2048
        self.background = True
        self.interpreter = True
        self.code_mb = 1024
        self.pending_mb = 64
        self.executor: Any = None
        self.enter: Callable[[Any], None] | None = None


settings = _Settings()
