"""The logger of `fleet`, on standard error."""

from __future__ import annotations

import logging
from typing import Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax.distributed.utils.log_utils import get_logger

__all__ = []


logger: Any = get_logger(logging.INFO, "paddle_jax.distributed.fleet")


def set_log_level(level: str) -> None:
    """The least level that is told.

    Args:
        level: str such as "DEBUG", or its number.
    Raises:
        AssertionError: it is neither str nor int.
    """
    if not isinstance(level, str | int):
        raise CheckError(f"set_log_level: level: got {level!r}; it must be a str or an int")
    logger.setLevel(level if isinstance(level, int) else level.upper())


def get_log_level_code() -> int:
    """The level as a number."""
    return logger.getEffectiveLevel()


def get_log_level_name() -> str:
    """The level by name, such as "INFO"."""
    return logging.getLevelName(logger.getEffectiveLevel())


def layer_to_str(base: str, *args: Any, **kwargs: Any) -> str:
    """A call as text: `layer_to_str("Linear", 2, b=3)` is "Linear(2, b=3)"."""
    return f"{base}({', '.join([*map(str, args), *(f'{name}={value}' for name, value in kwargs.items())])})"
