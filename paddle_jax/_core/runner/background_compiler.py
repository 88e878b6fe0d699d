"""Compiles in another thread while the program goes on in the tier it is in.

XLA's compiler runs without the interpreter's lock, so a step that is being compiled costs the program little
where there is a second processor.
"""

from __future__ import annotations

import contextlib
import functools as ft
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax._core.base.compiler import trimmed_memory
from paddle_jax._core.base.counters import compiling
from paddle_jax._core.base.inline_programs import running_inline
from paddle_jax._core.base.interrupt_safe import preserved_tracing
from paddle_jax._core.lazy.devices import default_device
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.process.background import Task, Worker

_NICENESS = 10  # added to that of the process, for the thread that XLA compiles in and those that it starts

_worker = Worker(complete=False)  # traces, which takes the interpreter's lock
_compiler = Worker(complete=False)  # compiles, at low priority


class _Jobs:
    """The jobs of the process.

    Attributes:
        is_nice: bool, whether the thread that compiles has a low priority already.
        segments: list of the jobs that compile segments and have not ended, as far as it is known.
    """

    is_nice = False
    segments: list[Task] = []  # noqa: RUF012  one for the process


def compiles_in_background(device: Any) -> bool:
    """Whether what belongs on a device is compiled by another thread.

    Meanwhile operations are interpreted, so it takes a device that NumPy can stand for, and a second
    processor. With FLAGS_deferred=async it is so in any case.
    """
    if settings.mode == "async":
        return True
    return (
        settings.background
        and settings.interpreter
        and device is default_device()
        and device.platform == "cpu"
        and processors() > 1
    )


@ft.cache
def processors() -> int:
    """Number of processors that the process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def submit_segment(compile_segment: Callable[[], object]) -> Task:
    """Has another thread call a function that compiles a segment."""
    job = submit_operation(compile_segment)
    _Jobs.segments = [other for other in _Jobs.segments if not other.done] + [job]
    return job


def submit_operation(compile_operation: Callable[[], object]) -> Task:
    """Has another thread call a function that compiles one operation."""
    return _worker.submit(compile_operation)


def compile_ahead(
    function: Any,
    arguments: Sequence[Any],
    tier: str,
    is_in_cache: bool = False,
    is_inline: bool = False,
) -> float:
    """Compiles what `jax.jit` gave for arguments of some shapes; the first call finds the program then.

    XLA compiles in a thread of low priority. Tracing stays at normal priority: the program may wait for its
    end, since it needs the interpreter's lock.

    Args:
        function: what `jax.jit` gave.
        arguments: arrays, or their shapes and dtypes.
        tier: the tier that the compilation counts for, see counters.py.
        is_in_cache: whether the persistent cache has the program. Loading it takes little, so the thread with
            the low priority has no part in it.
        is_inline: whether the program is to run in the thread that calls it.
    Returns:
        The seconds that it took.
    """
    start = time.perf_counter()
    with preserved_tracing():
        lowered = function.lower(*arguments)
    if is_in_cache:
        _compile(lowered, tier, is_inline)
    else:
        _compiler.submit(ft.partial(_compile_slowly, lowered, tier, is_inline)).wait()
    return time.perf_counter() - start


def submit_to_compiler(function: Callable[[], object]) -> Task:
    """Has the thread that XLA compiles in call a function, at the priority that the thread has by then."""
    return _compiler.submit(function)


def _compile_slowly(lowered: Any, tier: str, is_inline: bool) -> None:
    _lower_priority()
    _compile(lowered, tier, is_inline)


def _compile(lowered: Any, tier: str, is_inline: bool) -> None:
    with preserved_tracing(), running_inline(is_inline), compiling(tier), trimmed_memory(tier):
        lowered.compile()


def _lower_priority() -> None:
    """Lowers the priority of the calling thread, where the system has one for each thread."""
    if not _Jobs.is_nice and sys.platform == "linux":
        _Jobs.is_nice = True
        with contextlib.suppress(OSError):
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + _NICENESS)


def finish() -> None:
    """Waits until nothing is being compiled and no compilation waits for its turn."""
    # A job of one thread may give the other one a job.
    for worker in (_compiler, _worker, _compiler):
        worker.submit(int).wait()


def is_compiling_segments() -> bool:
    """Whether the compilation of a segment is going on or waits for its turn."""
    if not _Jobs.segments:
        return False
    _Jobs.segments = [job for job in _Jobs.segments if not job.done]
    return bool(_Jobs.segments)
