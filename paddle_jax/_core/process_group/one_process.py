"""Collectives of a group of one process: each gives back what it gets."""

from typing import Any

import jax.numpy as jnp

from paddle_jax._core.lazy.multi_device import MultiDevice


class OneProcess:
    """What carries the communication of a process that drives all devices alone. The methods are those of
    ProcessGroup."""

    description = "group of this process"

    def all_reduce(self, x: Any, op: int, name: str = "all_reduce") -> Any:
        """The elements as they are."""
        return x

    def all_gather(self, x: Any, name: str = "all_gather", detail: str = "") -> Any:
        """The array with a new first axis of length 1."""
        return MultiDevice.block_if_needed(jnp.expand_dims)(x, 0)

    def broadcast(self, x: Any, source: int) -> Any:
        """The array as it is."""
        return x

    def reduce(self, x: Any, target: int, op: int) -> Any:
        """The elements as they are."""
        return x

    def gather(self, x: Any, target: int) -> Any:
        """As all_gather."""
        return self.all_gather(x)

    def scatter(self, x: Any, source: int) -> Any:
        """The one row of the array [1, ...], with that axis."""
        return x

    def reduce_scatter(self, x: Any, op: int) -> Any:
        """The elements as they are."""
        return x

    def all_to_all(self, x: Any) -> Any:
        """The array [1, ...] as it is."""
        return x

    def barrier(self) -> None:
        """Returns at once."""
