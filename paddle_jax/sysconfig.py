"""Where the package is installed."""

from pathlib import Path

__all__ = ["get_include", "get_lib"]


def get_include():
    """The folder where headers of C would be. The package is written in Python and has none.

    Returns:
        str.
    Example:
        >>> paddle.sysconfig.get_include().endswith("include")
        True
    """
    return str(Path(__file__).resolve().parent / "include")


def get_lib():
    """The folder where libraries would be. The package is written in Python and has none.

    Returns:
        str.
    Example:
        >>> paddle.sysconfig.get_lib().endswith("libs")
        True
    """
    return str(Path(__file__).resolve().parent / "libs")
