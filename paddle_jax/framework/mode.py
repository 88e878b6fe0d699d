"""Which way programs run: operation by operation, or recorded into a static Program first."""

import functools as ft

from paddle_jax._core.state import local


def in_dynamic_mode() -> bool:
    """Whether operations run when they are called; False between `enable_static` and `disable_static`.

    Example:
        >>> paddle.in_dynamic_mode()
        True
    """
    return local.ctx.recorder is None


def in_dynamic_or_pir_mode() -> bool:
    """True: there is no third mode."""
    return True


def in_pir_mode() -> bool:
    """Whether a static program is being built."""
    return local.ctx.recorder is not None


def use_pir_api() -> bool:
    """True: what Paddle 3.3 says."""
    return True


def non_static_only(func):
    """Decorator of functions that a static program cannot use: they raise AssertionError while one is built.

    Args:
        func: callable.
    """

    @ft.wraps(func)
    def checked(*args, **kwargs):
        if local.ctx.recorder is not None:
            raise AssertionError(f"{func.__name__}: it works in dynamic mode only; call paddle.disable_static() first")
        return func(*args, **kwargs)

    return checked


dygraph_only = non_static_only


def enable_static():
    """Switches to static mode in this thread: operations are added to the default main program, which a `paddle.static.Executor` runs.

    Example:
        >>> paddle.enable_static()
        >>> paddle.in_dynamic_mode()
        False
        >>> paddle.disable_static()
    """
    from paddle_jax.static.recorder import start

    start()


def disable_static(place=None):
    """Switches back to dynamic mode: operations run when they are called.

    Args:
        place: the device to use from now on. Default: the current one.
    """
    recorder = local.ctx.recorder
    if recorder is not None and recorder.own is None:
        recorder.__exit__()
    if place is not None:
        from paddle_jax._core.place import set_device

        set_device(place)


def disable_signal_handler():
    """Does nothing: paddle_jax installs no signal handlers."""
