"""Which functions are called as they are, and marks of functions that are converted or observed."""

import functools as ft
import inspect

from paddle_jax._core.base.caller_info import is_users


class ObservedCall(ft.partial):
    """A function of the observer that answers a call; converted code does not look into it."""


class CachedCall(ObservedCall):
    """A function that returns the value of an earlier call."""


class Ignored:
    """Whose functions are called as they are. modules: names of modules, those below included; filled by
    `paddle.jit.ignore_module`."""

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
    mark = "_paddle_jax_not_to_static"  # an attribute that `paddle.jit.not_to_static` sets on functions


def ignore(modules):
    """Leaves functions of modules (and of modules below them) as they are when converted code calls them.

    Args:
        modules: list of modules, or their names.
    Example:
        >>> import json
        >>> from paddle_jax.jit.dy2static import ignore
        >>> ignore([json])
    """
    Ignored.modules |= {module if isinstance(module, str) else module.__name__ for module in modules}


def is_converted(function) -> bool:
    """Whether a plain function is one of those that are converted: of the user, or of a library on top of
    Paddle, and of no module left alone."""
    module = function.__globals__.get("__name__") or ""
    parts = module.split(".")
    return is_users(module) and not any(
        ".".join(parts[:k]) in Ignored.modules for k in range(1, len(parts) + 1)
    )


def mark_converted(function, extras=None):
    """Marks what is converted already; gives it back."""
    function.autograph_info__ = extras
    return function


def is_plain(function) -> bool:
    """Whether a function is to be called as it is: not the user's, marked, converted already, or nothing that
    can be converted."""
    return (
        getattr(function, Ignored.mark, False)
        or hasattr(function, "autograph_info__")
        or not is_converted(function)
        or bool(
            function.__code__.co_flags
            & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR)
        )
        or "ag__" in function.__code__.co_freevars
        or "ag__" in function.__code__.co_names
    )
