"""Loss scaling in several processes."""

from __future__ import annotations

from typing import Any

from paddle_jax.distributed.fleet.base.registry import Current

__all__ = []


def distributed_scaler(scaler: Any) -> Any:
    """The GradScaler itself: the optimizers of `fleet` tell it what the other processes have found.

    Args:
        scaler: GradScaler.
    Raises:
        TypeError: it is none.
    """
    return Current.fleet.distributed_scaler(scaler)
