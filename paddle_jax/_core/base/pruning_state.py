"""State of pruning between calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class PruningState:
    """The settings of `paddle.incubate.asp`, for the process.

    Attributes:
        excluded: set of the names of layers and parameters that are not pruned.
        supported: {kind of layer: its pruning function, or None for the usual one}.
    """

    excluded: set[str] = set()  # noqa: RUF012  one for the process
    supported: dict[str, Callable[..., Any] | None] = {"fc": None, "linear": None, "conv2d": None}  # noqa: RUF012
