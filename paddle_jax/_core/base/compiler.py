"""How compiling is kept small.

A step of a network is compiled once and used for hours, but what compiling takes is the peak
of most programs.
"""

import contextlib
import ctypes
import functools as ft
import os
from importlib import metadata

import jax

_MANY = 1200  # equations from which on the memory counts
_ARENAS = -8  # M_ARENA_MAX of glibc's malloc.h
_EMITTERS = "xla_cpu_use_fusion_emitters"  # jaxlib 0.12 does not know it any more


def compiler_options(equations):
    """What XLA is told for a program of so many equations on a CPU; {} elsewhere, for versions that have no
    choice, and for small programs.

    The newer of two ways to write the code of a fused loop keeps an MLIR context for each until all are
    written: 130 MB for a Transformer of four layers (1553 equations), 270 for ResNet-18 (2753). The older one
    compiles as fast or faster; what it makes of a step of a small network is a tenth slower.
    """
    return dict(_options()) if equations >= _MANY and jax.default_backend() == "cpu" else {}


@ft.cache
def _options():
    version = tuple(int(part) for part in metadata.version("jaxlib").split(".")[:2])
    return (
        ((_EMITTERS, False),)
        if (0, 10) <= version < (0, 12) and f"--{_EMITTERS}" not in os.environ.get("XLA_FLAGS", "")
        else ()
    )


def bound_arenas():
    """At most one arena of malloc for each processor, in place of eight: XLA's many threads leave free memory
    behind in each that they use. What the environment says (MALLOC_ARENA_MAX) stays."""
    told = "MALLOC_ARENA_MAX" in os.environ or "glibc.malloc.arena_max" in os.environ.get(
        "GLIBC_TUNABLES", ""
    )
    if not told:
        _glibc("mallopt", _ARENAS, max(2, os.cpu_count() or 2))


@contextlib.contextmanager
def leanly(tier):
    """Compiles a whole program with free memory given back to the system before and after, which takes 1 to
    10 ms. A ResNet-18 has 120 MB to give after the steps that were interpreted, and 85 after
    its compilation."""
    if tier == "operation":
        yield
        return
    _glibc("malloc_trim", 0)
    yield
    _glibc("malloc_trim", 0)


def _glibc(name, *arguments):
    """Calls what only glibc has, where it is there."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        getattr(ctypes.CDLL(None), name)(*arguments)
