"""Switching gradient recording on and off: functions that are context managers and decorators at once."""

from __future__ import annotations

import functools as ft
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from paddle_jax._core.base.interrupt_safe import AtomicDunder, ignoring_arguments
from paddle_jax._core.base.state import local, state


class _GradMode:
    """Context manager, decorator (with or without parentheses) and generator wrapper.

    Not a Block: two C calls fewer in a block that wraps every optimizer step and every evaluation.
    """

    # attribute of a decorated function that holds the mode
    DECORATED_BY_MARKER_ATTR = "__decorated_by__"
    enabled = True

    def __init__(self) -> None:
        self._saved: list[bool] = []

    def _entering(self) -> Any:
        self._saved.append(state.grad)
        return ft.partial(setattr, local.ctx, "grad", self.enabled)

    def _leaving(self) -> Callable[..., Any]:  # sets what was saved last; returns None
        return ignoring_arguments(
            ft.partial(next, map(setattr, (local.ctx,), ("grad",), map(list.pop, (self._saved,))))
        )

    __enter__: Any = AtomicDunder(_entering)
    __exit__: Any = AtomicDunder(_leaving)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(func):
            raise TypeError(
                f"{type(self).__name__}: got {type(func).__name__} to decorate; it must be a function"
            )
        if inspect.isgeneratorfunction(func):
            wrapped = self._wrap_generator(func)
        else:
            wrapped = self._wrap(func)
        setattr(wrapped, self.DECORATED_BY_MARKER_ATTR, self)
        return wrapped

    def clone(self) -> Any:
        """A new object of the same mode."""
        return type(self)()

    def _wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @ft.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapped

    def _wrap_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @ft.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Iterator[Any]:
            generator = function(*args, **kwargs)
            resume = generator.send
            given = (None,)
            while True:
                try:
                    with self.clone():  # between two steps the caller's mode is back
                        item = resume(*given)
                except StopIteration as stop:
                    return stop.value
                try:
                    # What the caller sends or throws goes on into the generator.
                    resume, given = generator.send, ((yield item),)
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    resume = generator.throw
                    given = (error,)

        return wrapped


class _Switch(_GradMode):
    """A mode without arguments. Given a function it decorates it at once: `@paddle.no_grad` is as good as
    `@paddle.no_grad()`."""

    def __new__(cls, func: Any = None) -> Any:
        if func is None:
            return super().__new__(cls)
        if not callable(func):
            raise TypeError(
                f"{cls.__name__}: got {func!r}; it takes no argument, or the function to decorate"
            )
        return cls()(func)


class no_grad(_Switch):
    """Turns gradient recording off: `with paddle.no_grad():`, `@paddle.no_grad()` or `@paddle.no_grad`.

    Args:
        func: function that is called so. Default None: a context manager, or a decorator with brackets.
    Example:
        >>> x = paddle.ones([2]); x.stop_gradient = False
        >>> with paddle.no_grad():
        ...     y = x * 2
        >>> y.stop_gradient
        True
    """

    enabled = False


class enable_grad(_Switch):
    """Turns gradient recording on, e.g. inside `no_grad`; context manager or decorator.

    Args:
        func: function that is called so. Default None: a context manager, or a decorator with brackets.
    Example:
        >>> with paddle.no_grad(), paddle.enable_grad():
        ...     paddle.is_grad_enabled()
        True
    """


class set_grad_enabled(_GradMode):
    """Sets gradient recording at once; used in a `with` statement it is restored at the end.

    Args:
        mode: bool.
    Example:
        >>> with paddle.set_grad_enabled(False):
        ...     paddle.is_grad_enabled()
        False
    """

    def __init__(self, mode: bool) -> None:
        if not (mode is None or hasattr(type(mode), "__bool__")):
            raise TypeError(f"set_grad_enabled: mode: got {type(mode).__name__}; it must be True or False")
        self.enabled: bool = bool(mode)
        # The call alone sets the mode; `with` gives the old one back.
        self._before = state.grad
        state.grad = self.enabled

    def __enter__(self) -> None:
        pass  # switched already

    def _restoring(self) -> Callable[..., Any]:
        return ignoring_arguments(ft.partial(setattr, local.ctx, "grad", self._before))

    __exit__: AtomicDunder = AtomicDunder(_restoring)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        state.grad = self._before  # as a decorator it switches inside the function only
        return super().__call__(func)

    def clone(self) -> Any:
        """A new object of the same mode."""
        return type(self)(self.enabled)


def is_grad_enabled() -> bool:
    """Returns whether operations on tensors that need a gradient are recorded.

    Returns:
        bool.
    Example:
        >>> paddle.is_grad_enabled()
        True
    """
    return state.grad
