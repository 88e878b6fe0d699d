"""The logger of `fleet`, on standard error."""

from __future__ import annotations

import logging
from typing import Any

from paddle_jax._core.base.errors import CheckError

__all__ = []


def _create_logger() -> Any:
    found = logging.getLogger("paddle_jax.distributed.fleet")
    if not found.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(
            logging.Formatter("[%(asctime)s] [%(levelname)8s] %(filename)s:%(lineno)d - %(message)s")
        )
        found.addHandler(handler)
        found.setLevel(logging.INFO)
        found.propagate = False
    return found


logger: Any = _create_logger()


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
