"""Options that keep the memory of compiling small.

A program is compiled once and used for hours, but compiling is the peak of the memory of most programs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
from collections.abc import Iterator
from typing import Any

# parameters of mallopt in glibc's malloc.h
_TRIM_THRESHOLD = -1
_TOP_PAD = -2
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8
_KEPT_MEMORY = 64 << 20  # bytes of free memory at the end of the heap that the process keeps
_LARGE_ARRAY = 32 << 20  # bytes from which an array has pages of its own; glibc takes no more
_LEVEL = "xla_backend_optimization_level"
_PAUSE = 20  # times as long as the last `malloc_trim` took: no other one starts in this time


def quick_options() -> dict[str, Any]:
    """Options of XLA for a first program on a CPU, which is there in less time.

    Its code is up to a tenth slower. What `XLA_FLAGS` has stays. `xla_cpu_use_fusion_emitters=False` would
    halve the time and the memory, but XLA 0.10 computes wrong values with it: a transposed copy may become
    the matrix itself. `solve` and attention were wrong in some programs.
    """
    if f"--{_LEVEL}" in os.environ.get("XLA_FLAGS", ""):
        return {}
    return {_LEVEL: 1}


def tune_malloc() -> None:
    """Sets what glibc's malloc does with free memory. What the environment sets stays.

    XLA's many threads leave free memory in each arena that they use. So there is one for each processor,
    in place of eight. The memory of a step's arrays stays with the process for the next step. Else the system
    clears each page again, which took a fifth of the time of a LeNet that was interpreted.

    An arena of another thread is open from the start. Else a call of the system opens each few pages, which
    took a twentieth of the time to load a program from the compile cache.
    """
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    settings = (
        ("MALLOC_ARENA_MAX", "arena_max", _ARENA_MAX, max(2, os.cpu_count() or 2)),
        ("MALLOC_TRIM_THRESHOLD_", "trim_threshold", _TRIM_THRESHOLD, _KEPT_MEMORY),
        ("MALLOC_TOP_PAD_", "top_pad", _TOP_PAD, _KEPT_MEMORY),
        ("MALLOC_MMAP_THRESHOLD_", "mmap_threshold", _MMAP_THRESHOLD, _LARGE_ARRAY),
    )
    for variable, tunable, parameter, value in settings:
        if variable not in os.environ and f"glibc.malloc.{tunable}" not in tunables:
            _call_glibc("mallopt", parameter, value)


class _LastTrim:
    """The last time that free memory was given back to the system."""

    end = -float("inf")
    seconds = 0.0


@contextlib.contextmanager
def trimmed_memory(tier: str) -> Iterator[None]:
    """A block that compiles a program, with free memory given back to the system before and after it.

    That takes 1 to 10 ms, so single operations do without. A ResNet-18 has 120 MB to give back after the
    steps that were interpreted, and 85 after its compilation.
    """
    if tier == "operation":
        yield
        return
    trim_memory()
    yield
    trim_memory()


def trim_memory(has_pause: bool = True) -> None:
    """Gives free memory back, unless that was done a short time ago.

    The C library visits each free part of the heap, also those that it has given back before. A process of
    hours has so many of them that this takes 0.1 s, twice for each program that it compiles.

    Args:
        has_pause: whether the second one of two in a short time is left out.
    """
    start = time.monotonic()
    # A trim that took long has a long pause behind it.
    if has_pause and start < _LastTrim.end + _PAUSE * _LastTrim.seconds:
        return
    _call_glibc("malloc_trim", 0)
    _LastTrim.end = time.monotonic()
    _LastTrim.seconds = _LastTrim.end - start


def _call_glibc(name: str, *arguments: int) -> None:
    """Calls a function that only glibc has, where it is there."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        getattr(ctypes.CDLL(None), name)(*arguments)
