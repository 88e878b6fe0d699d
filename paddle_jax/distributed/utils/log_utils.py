"""Loggers on standard error."""

from __future__ import annotations

import logging

__all__ = []


def get_logger(log_level: int | str, name: str = "root") -> logging.Logger:
    """A logger that writes lines with time, level and place to standard error.

    Args:
        log_level: int or str such as "INFO", the least level that is written. It counts in the first call
            for a name.
        name: str.
    Returns:
        logging.Logger: the one of this name, which passes nothing on to others.
    Example:
        >>> from paddle_jax.distributed.utils.log_utils import get_logger
        >>> get_logger("INFO", "trainer").name
        'trainer'
    """
    logger = logging.getLogger(name)
    # A second call must not add a second handler.
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(
            logging.Formatter("[%(asctime)-15s] [%(levelname)8s] %(filename)s:%(lineno)s - %(message)s")
        )
        logger.addHandler(handler)
        logger.setLevel(log_level)
        # Else the root logger would write each line once more.
        logger.propagate = False
    return logger
