"""Options that keep the memory of compiling small.

A program is compiled once and used for hours, but compiling is the peak of the memory of most programs.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools as ft
import os
import time
from collections.abc import Iterator
from typing import Any

import jax
import jaxlib.version

_LARGE = 1200  # equations from which on the memory counts
# parameters of mallopt in glibc's malloc.h
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8
_KEPT_MEMORY = 64 << 20  # bytes of free memory at the end of the heap that the process keeps
_LARGE_ARRAY = 32 << 20  # bytes from which an array has pages of its own; glibc takes no more
_EMITTERS = "xla_cpu_use_fusion_emitters"  # jaxlib 0.12 does not know it any more
_LEVEL = "xla_backend_optimization_level"
_PAUSE = 20  # times as long as the last `malloc_trim` took: no other one starts in this time


def compiler_options(equations: int) -> dict[str, Any]:
    """Options of XLA for a program of so many equations.

    They are empty except for large programs on a CPU. The newer of two ways to write the code of a fused loop
    keeps an MLIR context for each until all are written: 130 MB for a Transformer of four layers (1553
    equations), 270 for ResNet-18 (2753). The older way compiles as fast or faster; the step of a small
    network runs a tenth slower.
    """
    if equations >= _LARGE and jax.default_backend() == "cpu":
        return dict(_options())
    return {}


def quick_options() -> dict[str, Any]:
    """Options of XLA for a first program on a CPU, which is there in half the time.

    Its code is up to a tenth slower. What `XLA_FLAGS` has stays.
    """
    options: dict[str, Any] = dict(_options())
    if f"--{_LEVEL}" not in os.environ.get("XLA_FLAGS", ""):
        options[_LEVEL] = 1
    return options


@ft.cache
def _options() -> tuple[tuple[str, bool], ...]:
    """Options for large programs; none for versions of jaxlib without a choice, or where the user chose."""
    version = tuple(int(part) for part in jaxlib.version.__version__.split(".")[:2])
    has_choice = (0, 10) <= version < (0, 12)
    if has_choice and f"--{_EMITTERS}" not in os.environ.get("XLA_FLAGS", ""):
        return ((_EMITTERS, False),)
    return ()


def tune_malloc() -> None:
    """Sets what glibc's malloc does with free memory. What the environment sets stays.

    XLA's many threads leave free memory in each arena that they use. So there is one for each processor,
    in place of eight. The memory of a step's arrays stays with the process for the next step. Else the system
    clears each page again, which took a fifth of the time of a LeNet that was interpreted.
    """
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    settings = (
        ("MALLOC_ARENA_MAX", "arena_max", _ARENA_MAX, max(2, os.cpu_count() or 2)),
        ("MALLOC_TRIM_THRESHOLD_", "trim_threshold", _TRIM_THRESHOLD, _KEPT_MEMORY),
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
    _trim()
    yield
    _trim()


def _trim() -> None:
    """Gives free memory back, unless that was done a short time ago.

    The C library visits each free part of the heap, also those that it has given back before. A process of
    hours has so many of them that this takes 0.1 s, twice for each program that it compiles.
    """
    start = time.monotonic()
    # A trim that took long has a long pause behind it.
    if start < _LastTrim.end + _PAUSE * _LastTrim.seconds:
        return
    _call_glibc("malloc_trim", 0)
    _LastTrim.end = time.monotonic()
    _LastTrim.seconds = _LastTrim.end - start


def _call_glibc(name: str, *arguments: int) -> None:
    """Calls a function that only glibc has, where it is there."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        getattr(ctypes.CDLL(None), name)(*arguments)
