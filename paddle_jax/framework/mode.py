"""Which way programs run: operation by operation, or recorded into a static Program first."""

from __future__ import annotations

import contextlib
import functools as ft
import threading
from collections.abc import Callable, Iterator
from typing import Any

from paddle_jax._core.base import unique_name
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.tensors.place import set_device
from paddle_jax._program.recorder import Recorder, start


def in_dynamic_mode() -> bool:
    """Whether operations run when they are called; False between `enable_static` and `disable_static`.

    Returns:
        bool.
    Example:
        >>> paddle.in_dynamic_mode()
        True
    """
    return not local.ctx.frame.recording


def in_dynamic_or_pir_mode() -> bool:
    """True: there is no third mode.

    Returns:
        bool.
    Example:
        >>> paddle.framework.in_dynamic_or_pir_mode()
        True
    """
    return True


def in_pir_mode() -> bool:
    """Whether a static program is being built.

    Returns:
        bool.
    Example:
        >>> paddle.framework.in_pir_mode()
        False
    """
    return not in_dynamic_mode()


def use_pir_api() -> bool:
    """True: what Paddle 3.3 says.

    Returns:
        bool.
    Example:
        >>> paddle.framework.use_pir_api()
        True
    """
    return True


def non_static_only(func: Callable[..., Any]) -> Any:
    """Decorator of functions that a static program cannot use: they raise AssertionError while one is built.

    Args:
        func: callable.
    Returns:
        The function, which is checked at each call.
    Raises:
        AssertionError: a static program is being built.
    Example:
        >>> @paddle.framework.dygraph_only
        ... def first(x):
        ...     return float(x[0])
        >>> first(paddle.to_tensor([2.0]))
        2.0
    """

    @ft.wraps(func)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if not in_dynamic_mode():
            raise AssertionError(
                f"{func.__name__}: it works in dynamic mode only; call paddle.disable_static() first"
            )
        return func(*args, **kwargs)

    return checked


dygraph_only = non_static_only


def static_only(func: Callable[..., Any]) -> Any:
    """Decorator of functions that belong to static programs: they raise AssertionError in dynamic mode.

    Args:
        func: callable.
    """

    @ft.wraps(func)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if in_dynamic_mode():
            raise AssertionError(
                f"{func.__name__}: it works in static mode only; call paddle.enable_static() first"
            )
        return func(*args, **kwargs)

    return checked


dygraph_not_support = static_only


def enable_static() -> None:
    """Switches to static mode: operations are added to the default main program, which a
    `paddle.static.Executor` runs.

    It concerns the calling thread, and, where that is the main one, the threads that begin later.

    Example:
        >>> paddle.enable_static()
        >>> paddle.in_dynamic_mode()
        False
        >>> paddle.disable_static()
    """
    start()


def disable_static(place: Any = None) -> None:
    """Switches back to dynamic mode: operations run when they are called. Names of parameters that are in use
    may be given again.

    Args:
        place: the device to use from now on. Default: the current one.
    Example:
        >>> paddle.enable_static()
        >>> paddle.in_dynamic_mode()
        False
        >>> paddle.disable_static()
        >>> paddle.in_dynamic_mode()
        True
    """
    left = leave_static()
    # The mode of threads that begin later, and names, are the main thread's.
    if threading.current_thread() is threading.main_thread():
        settings.enter = None
        if left:
            unique_name.leave_static()
        unique_name.forget_parameter_names()
    if place is not None:
        set_device(place)


def leave_static() -> bool:
    """Switches this thread alone to dynamic mode; gives whether it was in static mode."""
    # A program that records a function (`fixed_program`) is not the user's static mode.
    recorder = local.ctx.frame
    if not recorder.recording or recorder.fixed_program is not None:
        return False
    recorder.__exit__()
    return True


@contextlib.contextmanager
def switched(dynamic: Any) -> Iterator[None]:
    """Inside the block this thread is in dynamic mode, or in static mode; parameter names stay in use."""
    recorder = local.ctx.frame
    # Already in that mode.
    if dynamic != recorder.recording:
        yield
    elif dynamic:
        left = leave_static()
        try:
            yield
        finally:
            if left:
                recorder.__enter__()
    else:
        with Recorder():
            yield


def disable_signal_handler() -> None:
    """Does nothing: paddle_jax installs no signal handlers.

    Example:
        >>> paddle.disable_signal_handler()
    """
