"""Helpers of programs that start processes."""

from __future__ import annotations

from typing import Any

from paddle_jax._launch.ports import free_ports


def find_free_ports(num: Any) -> set[int]:
    """Ports of this machine that nobody listens on, as a set.

    Args:
        num: how many.
    Example:
        >>> from paddle_jax.distributed.utils.launch_utils import find_free_ports
        >>> len(find_free_ports(2))
        2
    """
    return set(free_ports(num))


__all__ = []
