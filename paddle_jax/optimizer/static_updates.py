"""How optimizers update parameters in static programs; `static/optimize.py` registers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class StaticUpdates:
    """The registered functions; the first argument of each is the optimizer.

    Attributes:
        minimize: adds gradients and updates to the program of a loss.
        backward: gives pairs of a Parameter and its gradient.
        apply_gradients: adds the updates for given gradients.
    """

    minimize: ClassVar[Callable[..., Any]]
    backward: ClassVar[Callable[..., Any]]
    apply_gradients: ClassVar[Callable[..., Any]]


__all__ = ["StaticUpdates"]
