"""Decorators that keep what a function calls itself (`paddle.base.wrapped_decorator`)."""

from __future__ import annotations

import contextlib
import functools as ft
import inspect
from collections.abc import Callable
from typing import Any

__all__ = []


def copy_signature(src: Any, dst: Any) -> Any:
    """Gives a function the signature of another.

    Args:
        src, dst: callables.
    Returns:
        dst.
    """
    dst.__signature__ = inspect.signature(src)
    return dst


def wrap_decorator(decorator_func: Callable[..., Any]) -> Any:
    """Makes a decorator keep name, docstring and signature of what it decorates.

    Args:
        decorator_func: callable that takes a function and returns one.
    Example:
        >>> twice = paddle.base.wrapped_decorator.wrap_decorator(lambda f: lambda x: f(f(x)))
        >>> @twice
        ... def half(x):
        ...     return x / 2
        >>> half.__name__, half(4)
        ('half', 1.0)
    """

    @ft.wraps(decorator_func)
    def decorate(function: Any) -> Any:
        # Once for each function, not once for each call.
        decorated = decorator_func(function)

        @ft.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            return decorated(*args, **kwargs)

        return called

    return decorate


def signature_safe_contextmanager(func: Any) -> Any:
    """`contextlib.contextmanager` under Paddle's name.

    Args:
        func: generator function that yields once.
    Example:
        >>> @paddle.base.wrapped_decorator.signature_safe_contextmanager
        ... def number(n):
        ...     yield n
        >>> with number(3) as n:
        ...     n
        3
    """
    return contextlib.contextmanager(func)
