"""Facts about functions and values that code around `to_static` asks for, and what the conversion raises."""

from __future__ import annotations

import dataclasses
import functools as ft
import inspect
import textwrap
import types
from collections.abc import Callable
from typing import Any

from paddle_jax._core.base.caller_info import is_ours
from paddle_jax._core.base.errors import Unsupported as Dygraph2StaticException
from paddle_jax.nn.layer.layers import Layer


def type_name(v: Any) -> str:
    """The name of the type of a value."""
    return type(v).__name__


def make_hashable(x: Any, error_msg: str | None = None) -> Any:
    """A value by which x can be looked up in a dict: lists and sets become tuples, dicts that of their items,
    data classes that of their fields.

    Args:
        x: any value.
        error_msg: str, the beginning of the error's text.
    Raises:
        ValueError: it has no such form.
    Example:
        >>> paddle.jit.dy2static.utils.make_hashable([1, [2]])
        (1, (2,))
    """
    if isinstance(x, list | tuple | set):
        return tuple(make_hashable(v) for v in x)
    if isinstance(x, dict):
        return tuple((key, make_hashable(v)) for key, v in x.items())
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return (type(x).__name__, *(make_hashable(getattr(x, field.name)) for field in dataclasses.fields(x)))
    try:
        hash(x)
    except TypeError:
        raise ValueError(
            f"{error_msg or 'make_hashable: x: it must be hashable.'} But received type: {type(x).__name__}"
        ) from None
    return x


def parse_arg_and_kwargs(function: Callable[..., Any]) -> tuple[list[str], dict[str, Any]]:
    """The names of a function's positional parameters, and the defaults among them by name.

    Args:
        function: callable; of a method the first parameter is left out.
    Example:
        >>> paddle.jit.dy2static.utils.parse_arg_and_kwargs(lambda x, y=1: x)
        (['x', 'y'], {'y': 1})
    """
    parameters = [
        p
        for p in inspect.signature(function).parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    return [p.name for p in parameters], {p.name: p.default for p in parameters if p.default is not p.empty}


def parse_varargs_name(function: Any) -> str | None:
    """The name of the parameter that takes all further positional arguments, None if there is none."""
    return next(
        (p.name for p in inspect.signature(function).parameters.values() if p.kind is p.VAR_POSITIONAL), None
    )


def func_to_source_code(function: Callable[..., Any], dedent: Any = True) -> str:
    """The source of a function.

    Args:
        function: function, method or partial of one.
        dedent: move it to the left margin.
    Raises:
        TypeError: it is none.
        OSError: its source is not there.
    """
    # A partial has no source of its own.
    while isinstance(function, ft.partial):
        function = function.func
    if not isinstance(function, types.FunctionType | types.MethodType):
        raise TypeError(
            f"func_to_source_code: function: got {type(function).__name__}; it must be a function or a method"
        )
    source = inspect.getsource(function)
    if dedent:
        return textwrap.dedent(source)
    return source


def is_paddle_func(func: Callable[..., Any], ignore_white_list: Any = True) -> bool:
    """Whether a function, method or Layer is Paddle's own.

    Args:
        func: callable.
        ignore_white_list: accepted.
    """
    while isinstance(func, ft.partial):
        func = func.func
    if isinstance(func, Layer):
        module = type(func).__module__
    else:
        module = getattr(func, "__module__", None) or ""
    return is_ours(module)


def is_builtin(func: Callable[..., Any], name: str | None = None) -> bool:
    """Whether a callable is one of Python's own, and has this name.

    Args:
        func: callable.
        name: str, or None for any.
    """
    return (
        isinstance(func, types.BuiltinFunctionType) or getattr(func, "__module__", None) == "builtins"
    ) and name in (None, func.__name__)


__all__ = ["Dygraph2StaticException"]
