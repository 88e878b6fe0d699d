"""Loggers for libraries."""

from __future__ import annotations

import logging
from typing import Any

__all__ = ["get_logger"]


def get_logger(name: str, level: int, fmt: str | None = None) -> Any:
    """A logger that writes to the standard error stream and to no other logger.

    Args:
        name: str.
        level: int such as `logging.INFO`.
        fmt: str, the form of a line.
    Example:
        >>> import logging
        >>> paddle.base.log_helper.get_logger("my_library", logging.INFO).level
        20
    """
    logger = logging.getLogger(name)
    logger.setLevel(level)
    handler = logging.StreamHandler()
    if fmt:
        handler.setFormatter(logging.Formatter(fmt=fmt, datefmt="%a %b %d %H:%M:%S"))
    logger.addHandler(handler)
    # Otherwise the root logger would print each line once more.
    logger.propagate = False
    return logger
