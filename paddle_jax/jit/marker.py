"""Marks that tell compiled functions how to treat a function or Layer that they call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from paddle_jax._program.guards.observed_calls import DYNAMIC
from paddle_jax.jit.api import not_to_static
from paddle_jax.nn.layer.layers import Layer


def unified(fn: Callable[..., Any] | None = None, *, for_sot: bool = True, for_ast: bool = True) -> Any:
    """Marks a function that runs the same compiled and eagerly: inside a compiled function it is traced
    as it is.

    Args:
        fn: callable. Default None: returns a decorator.
        for_sot, for_ast: bool; accepted, there is one way of compiling.
    Returns:
        The function itself.
    Example:
        >>> @paddle.jit.marker.unified
        ... def plain(x):
        ...     return x + 1
        >>> plain(paddle.ones([1])).item()
        2.0
    """
    if fn is None:
        return lambda function: unified(function, for_sot=for_sot, for_ast=for_ast)
    # Both are False: the mark is not wanted.
    if for_sot or for_ast:
        return not_to_static(fn)
    return fn


def capture_control_flow(fn: Callable[..., Any] | None = None) -> Any:
    """Marks a function whose control flow on values of Tensors is to be compiled, which is always done here.

    Args:
        fn: callable. Default None: returns a decorator.
    Returns:
        The function itself.
    Example:
        >>> @paddle.jit.marker.capture_control_flow
        ... def sign(x):
        ...     return x + 1 if x.sum() > 0 else x - 1
        >>> sign(paddle.ones([1])).item()
        2.0
    """
    if fn is None:
        return capture_control_flow
    return fn


def force_dynamic(fn: Any = None) -> Any:
    """Marks a function or a class of Layers that runs eagerly: a function that calls it and is not compiled
    with `full_graph=True` runs eagerly, too.

    Args:
        fn: function or class of Layers. Default None: returns a decorator.
    Returns:
        The function or class itself.
    Raises:
        TypeError: it is something else.
    Example:
        >>> @paddle.jit.marker.force_dynamic
        ... def eager(x):
        ...     return x + 1
        >>> eager(paddle.ones([1])).item()
        2.0
    """
    if fn is None:
        return force_dynamic
    if not inspect.isfunction(fn) and not (inspect.isclass(fn) and issubclass(fn, Layer)):
        raise TypeError(
            f"force_dynamic: fn: got {type(fn).__name__}; it must be a function or a class of Layers"
        )
    setattr(fn, DYNAMIC, True)
    return fn


__all__ = ["capture_control_flow", "force_dynamic", "unified"]
