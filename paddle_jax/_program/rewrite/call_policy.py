"""Which functions are called as they are, and marks of functions that are converted or observed."""

from __future__ import annotations

import functools as ft
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from paddle_jax._core.base.caller_info import is_users

_Function = TypeVar("_Function", bound=Callable[..., Any])


class ObservedCall(ft.partial):
    """A function of the observer that answers a call; converted code does not look into it."""


class CachedCall(ObservedCall):
    """A function that returns the value of an earlier call."""


class Ignored:
    """Functions that are called as they are.

    Attributes:
        modules: names of their modules, those below included. `paddle.jit.ignore_module` adds to them.
        mark: name of the attribute that `paddle.jit.not_to_static` sets on functions.
    """

    # Large libraries that know nothing of Tensors of ours: converting them takes long, and may fail.
    modules = {
        "malt",
        "torch",
        "tensorflow",
        "pandas",
        "matplotlib",
        "PIL",
        "cv2",
        "sklearn",
        "tqdm",
        "pytest",
        "_pytest",
        "pluggy",
        "IPython",
        "ipykernel",
    }
    mark = "_paddle_jax_not_to_static"


def ignore(modules: Iterable[Any]) -> None:
    """Leaves functions of modules (and of modules below them) as they are when converted code calls them.

    Args:
        modules: list of modules, or their names.
    Example:
        >>> import json
        >>> from paddle_jax.jit.dy2static import ignore
        >>> ignore([json])
    """
    Ignored.modules |= {module if isinstance(module, str) else module.__name__ for module in modules}


def is_converted(function: types.FunctionType) -> bool:
    """Whether calls convert a plain function: one of the user, or of a library on top of Paddle, and of no
    module that is ignored."""
    # A name in the namespace: code made by `exec` may have none.
    module = function.__globals__.get("__name__") or ""
    if not is_users(module):
        return False
    parts = module.split(".")
    return not any(".".join(parts[:count]) in Ignored.modules for count in range(1, len(parts) + 1))


def mark_converted(function: _Function, extras: Any = None) -> _Function:
    """Marks a function as converted, and returns it."""
    function.autograph_info__ = extras  # pyright: ignore[reportFunctionMemberAccess]
    return function


# Code that may stop in the middle cannot become a branch or a loop.
_GENERATOR_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def is_plain(function: types.FunctionType) -> bool:
    """Whether a function is called as it is: it is not the user's, is marked, or cannot be converted."""
    # Already converted code would be converted twice.
    if getattr(function, Ignored.mark, False) or hasattr(function, "autograph_info__"):
        return True
    if not is_converted(function):
        return True
    code = function.__code__
    is_generator = bool(code.co_flags & _GENERATOR_FLAGS)
    # Nested functions of converted code are code of malt already; the names show it.
    is_converted_code = "ag__" in code.co_freevars or "ag__" in code.co_names
    return is_generator or is_converted_code
