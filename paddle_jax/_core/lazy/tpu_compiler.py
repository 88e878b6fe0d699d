"""Refuses programs at which an old compiler for TPUs ends the process."""

from __future__ import annotations

import functools as ft
import importlib.metadata
import re
from typing import TYPE_CHECKING, Any

from jax._src import compiler

if TYPE_CHECKING:
    from collections.abc import Callable

# 0.0.42 fails at quotients and transposes of complex128, 0.0.46 at transposes; 0.0.50 compiles all of them.
_FIRST = (0, 0, 50)


def refuse_complex128() -> None:
    """Looks at each program for a TPU before it is compiled, if the libtpu that is installed is too old."""
    try:
        version = importlib.metadata.version("libtpu")
    except importlib.metadata.PackageNotFoundError:
        return
    # Another version of JAX may have no such function. Its libtpu is a newer one.
    compile_module = getattr(compiler, "backend_compile_and_load", None)
    if compile_module is not None and _numbers(version) < _FIRST:
        compiler.backend_compile_and_load = ft.partial(_compile, compile_module, version)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple([int(part) for part in re.findall(r"\d+", version)])


def _compile(
    compile_module: Callable[..., Any], version: str, backend: Any, module: Any, *others: Any, **named: Any
) -> Any:
    if backend.platform == "tpu" and "complex<f64>" in str(module):
        raise NotImplementedError(
            f"complex128: libtpu {version} cannot compile it for a TPU; use complex64, or a JAX that brings "
            "libtpu 0.0.50 or newer"
        )
    return compile_module(backend, module, *others, **named)
