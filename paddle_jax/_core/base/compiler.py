"""Options that keep the memory of compiling small.

A program is compiled once and used for hours, but compiling is the peak of the memory of most programs.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools as ft
import os
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import jax

_LARGE = 1200  # equations from which on the memory counts
_ARENA_MAX = -8  # M_ARENA_MAX of glibc's malloc.h
_EMITTERS = "xla_cpu_use_fusion_emitters"  # jaxlib 0.12 does not know it any more
_LEVEL = "xla_backend_optimization_level"


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
    version = tuple(int(part) for part in metadata.version("jaxlib").split(".")[:2])
    has_choice = (0, 10) <= version < (0, 12)
    if has_choice and f"--{_EMITTERS}" not in os.environ.get("XLA_FLAGS", ""):
        return ((_EMITTERS, False),)
    return ()


def limit_malloc_arenas() -> None:
    """Limits malloc to one arena for each processor, in place of eight.

    XLA's many threads leave free memory in each arena that they use. A limit in the environment stays.
    """
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    if "MALLOC_ARENA_MAX" not in os.environ and "glibc.malloc.arena_max" not in tunables:
        _call_glibc("mallopt", _ARENA_MAX, max(2, os.cpu_count() or 2))


@contextlib.contextmanager
def trimmed_memory(tier: str) -> Iterator[None]:
    """A block that compiles a program, with free memory given back to the system before and after it.

    That takes 1 to 10 ms, so single operations do without. A ResNet-18 has 120 MB to give back after the
    steps that were interpreted, and 85 after its compilation.
    """
    if tier == "operation":
        yield
        return
    _call_glibc("malloc_trim", 0)
    yield
    _call_glibc("malloc_trim", 0)


def _call_glibc(name: str, *arguments: int) -> None:
    """Calls a function that only glibc has, where it is there."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        getattr(ctypes.CDLL(None), name)(*arguments)
