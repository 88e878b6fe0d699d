"""Switching gradient recording on and off: functions that are context managers and decorators at once."""

import functools as ft
import inspect

from paddle_jax._core.state import state


class _GradMode:
    """Context manager, decorator (with or without parentheses) and generator wrapper."""

    enabled = True

    def __init__(self):
        self._saved = []

    def __enter__(self):
        self._saved.append(state.grad)
        state.grad = self.enabled
        return self

    def __exit__(self, *exc):
        state.grad = self._saved.pop()
        return False

    def __call__(self, function):
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @ft.wraps(function)
        def wrapped(*args, **kwargs):
            with self._fresh():
                return function(*args, **kwargs)

        return wrapped

    def _fresh(self):
        return type(self)()

    def _wrap_generator(self, function):
        @ft.wraps(function)
        def wrapped(*args, **kwargs):
            generator, sent = function(*args, **kwargs), None
            while True:
                with self._fresh():
                    try:
                        item = generator.send(sent)
                    except StopIteration as stop:
                        return stop.value
                sent = yield item

        return wrapped


class _NoGrad(_GradMode):
    enabled = False


class _EnableGrad(_GradMode):
    enabled = True


def _mode(cls, function):
    return cls() if function is None else cls()(function)


def no_grad(func=None):
    """Turns gradient recording off: `with paddle.no_grad():`, `@paddle.no_grad()` or `@paddle.no_grad`.

    Example:
        >>> x = paddle.ones([2]); x.stop_gradient = False
        >>> with paddle.no_grad():
        ...     y = x * 2
        >>> y.stop_gradient
        True
    """
    return _mode(_NoGrad, func)


def enable_grad(func=None):
    """Turns gradient recording on, e.g. inside `no_grad`; context manager or decorator.

    Example:
        >>> with paddle.no_grad(), paddle.enable_grad():
        ...     paddle.is_grad_enabled()
        True
    """
    return _mode(_EnableGrad, func)


class set_grad_enabled(_GradMode):
    """Sets gradient recording at once; used in a `with` statement it is restored at the end.

    Args:
        mode: bool.
    Example:
        >>> with paddle.set_grad_enabled(False):
        ...     paddle.is_grad_enabled()
        False
    """

    def __init__(self, mode):
        super().__init__()
        self.enabled, self._before = bool(mode), state.grad
        state.grad = self.enabled

    def __enter__(self):
        self._saved.append(self._before)
        state.grad = self.enabled
        return self

    def _fresh(self):
        return type(self)(self.enabled)


def is_grad_enabled() -> bool:
    """Returns whether operations on tensors that need a gradient are recorded.

    Example:
        >>> paddle.is_grad_enabled()
        True
    """
    return state.grad
