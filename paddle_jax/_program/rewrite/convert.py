"""Source conversion: diastatic-malt rewrites the statements and calls of a function into calls of
`statements` and `calls`."""

from __future__ import annotations

import contextlib
import functools as ft
import types
from collections.abc import Callable
from typing import Any

from paddle_jax._core.execution.module_protocol import ModuleBase
from paddle_jax._program.rewrite.call_policy import is_plain
from paddle_jax._program.rewrite.converted_calls import (
    converted_callable,
    converted_forwards,
    converted_function,
    transpiler,
)


def convert(function: Any) -> Callable[..., Any]:
    """Makes a function whose control flow may depend on traced Tensors: `if`, `while`, `for`, `and`, `assert`
    and so on become compiled branches and loops.

    Args:
        function: function, method, lambda, Layer (its `forward`) or other callable. What it calls is
            converted on the way, if it is not Paddle's, JAX's, NumPy's or Python's own, and not marked with
            `paddle.jit.not_to_static`.
    Returns:
        A callable of the same arguments.
    Raises:
        Unsupported: the source is not there, or it has something that cannot be converted.
    """
    # Importing malt registers what the checks below ask for.
    transpiler()
    if isinstance(function, types.FunctionType) and not is_plain(function):
        return converted_function(function, strict=True)
    # Methods are converted with their object, so that `self` is what it was.
    if (
        isinstance(function, types.MethodType)
        and isinstance(function.__func__, types.FunctionType)
        and not is_plain(function.__func__)
    ):
        return types.MethodType(converted_function(function.__func__, strict=True), function.__self__)
    # Refused now and not at the first call, so that the error names the function that the user gave.
    if isinstance(function, ModuleBase):
        forward = type(function).forward
        if isinstance(forward, types.FunctionType) and not is_plain(forward):
            converted_function(forward, strict=True)
    converted = converted_callable(function)
    if converted is function:
        # Nothing to convert in the callable itself. Parts of it may be the user's.
        return ft.partial(_of_a_library, function)
    return converted


def _of_a_library(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls a function that is not the user's: what is, in a Layer it belongs to, runs converted."""
    owner = getattr(function, "__self__", args[0] if args else None)
    # Layers of a library may hold Layers of the user.
    with converted_forwards(owner) if isinstance(owner, ModuleBase) else contextlib.nullcontext():
        return function(*args, **kwargs)
