"""What the switches of a strategy for static programs have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paddle_jax._core.lazy.transfer import to_array, to_numpy

WHERE = "fleet.distributed_optimizer: strategy"


def refuse_together(strategy: Any, name: str, others: Iterable[str]) -> None:
    """Refuses switches that do not go together with another one.

    Args:
        strategy: DistributedStrategy.
        name: the switch that is on.
        others: the switches that must be off.
    Raises:
        NotImplementedError: one of them is on.
    """
    found = [other for other in others if getattr(strategy, other)]
    if found:
        raise NotImplementedError(
            f"{WHERE}: {name} together with {', '.join(found)} in a static program; leave one of them out"
        )


def stored_number(values: dict[str, Any], name: str) -> int:
    """The whole number that a Variable of one element holds."""
    return int(to_numpy(to_array(values[name]))[0])


__all__ = ["WHERE", "refuse_together", "stored_number"]
