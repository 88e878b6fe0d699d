"""Helpers that programs import from paddle.utils."""

from __future__ import annotations


from typing import Any
from typing import TYPE_CHECKING
import functools as ft
import importlib
import re
import warnings

from paddle_jax.utils import cpp_extension, dlpack, download, install_check as install_check, unique_name
from paddle_jax.utils.install_check import run_check
from paddle_jax.utils.nested import flatten, map_structure, pack_sequence_as
from paddle_jax.version import full_version

if TYPE_CHECKING:
    import types


__all__ = [
    "cpp_extension",
    "deprecated",
    "dlpack",
    "download",
    "flatten",
    "map_structure",
    "pack_sequence_as",
    "require_version",
    "run_check",
    "try_import",
    "unique_name",
]


def try_import(module_name: str, err_msg: str | None = None) -> types.ModuleType:
    """Imports a module by name.

    Args:
        module_name: dotted name.
        err_msg: text of the error when the module is missing.
    Returns:
        The module.
    Raises:
        ImportError: the module is not installed.
    Example:
        >>> paddle.utils.try_import("math").pi > 3
        True
    """
    try:
        return importlib.import_module(module_name)
    except ImportError as error:
        raise ImportError(
            err_msg
            or f"{module_name} is not installed; install it, e.g. "
            f"with `pip install {module_name.split('.')[0]}`"
        ) from error


def deprecated(update_to: str = "", since: str = "", reason: str = "", level: Any = 0) -> Any:
    """Decorator that warns (level 0 and 1) or raises (level 2) when an outdated function is called.

    Args:
        update_to: what to call instead.
        since: version that made it outdated.
        reason: why.
        level: 0 or 1 warn, 2 raises RuntimeError.
    Returns:
        Decorator.
    Raises:
        RuntimeError: a function of level 2 is called.
    Example:
        >>> import warnings
        >>> @paddle.utils.deprecated(update_to="paddle.add", since="3.0")
        ... def plus(x, y):
        ...     return x + y
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     plus(1, 2)
        3
    """

    def decorate(function: Any) -> Any:
        text = f"{function.__module__}.{function.__name__} is deprecated"
        if since:
            text += f" since {since}"
        if update_to:
            text += f"; use {update_to}"
        if reason:
            text += f" ({reason})"

        @ft.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if level > 1:
                raise RuntimeError(text)
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def _numbers(version: Any, what: Any) -> list[int]:
    if not isinstance(version, str):
        raise TypeError(
            f"require_version: {what}: got {type(version).__name__}; it must be a text such as '3.0.0'"
        )
    if not re.fullmatch(r"\d+(\.\d+){0,3}", version):
        raise ValueError(
            f"require_version: {what}: got {version!r}; it must be numbers with dots, such as '3.0.0'"
        )
    # 2.3 stands for 2.3.0.0.
    return [int(n) for n in version.split(".")] + [0] * (4 - len(version.split(".")))


def require_version(min_version: Any, max_version: Any = None) -> None:
    """Raises unless the Paddle version whose API this is lies between the two.

    Args:
        min_version, max_version: str such as "2.4.0"; without max_version there is no upper bound.
    Raises:
        Exception: it does not.
    Example:
        >>> paddle.utils.require_version("2.0.0")
    """
    here = _numbers(full_version, "version")
    low = _numbers(min_version, "min_version")
    if max_version is None:
        high = None
    else:
        high = _numbers(max_version, "max_version")
    if here < low or (high is not None and here > high):
        raise Exception(
            f"require_version: this is {full_version}; {min_version} to {max_version or 'any'} is required"
        )
