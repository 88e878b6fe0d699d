"""The leaves of a segment while JAX traces it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

if TYPE_CHECKING:
    from paddle_jax._core.runner.compiled_segment import CompiledSegment


class TracedLeaves:
    """The leaves of a segment inside its trace. Host numbers are cut out of the vector of their dtype at
    their first use.

    Attributes:
        values: dict from the number of a leaf to its traced value.
        avals: list of the Avals of the leaves.
        hosts: see Key.
        packed: the traced vectors of host numbers, one for each dtype.
        slices: dict from the number of a leaf to (number of its vector, first element).
    """

    def __init__(
        self, program: CompiledSegment, donated: Sequence[Any], kept: Sequence[Any], packed: Sequence[Any]
    ) -> None:
        self.values = dict(zip((*program.donated, *program.kept), (*donated, *kept), strict=True))
        self.avals = program.avals
        self.hosts = program.key.hosts
        self.packed = packed
        self.slices: dict[int, tuple[int, int]] = {}
        for slot, (_, members) in enumerate(program.groups):
            first = 0
            for i in members:
                self.slices[i] = slot, first
                first += self.hosts[i]

    def __getitem__(self, i: int) -> Any:
        value = self.values.get(i)
        if value is None:
            value = self.values[i] = self._from_numbers(i)
        return value

    def _from_numbers(self, i: int) -> jax.Array:
        aval = self.avals[i]
        numbers = self.hosts[i]
        if type(numbers) is tuple:
            return jnp.full(aval.shape, numbers[0], aval.dtype)
        slot, first = self.slices[i]
        return self.packed[slot][first : first + numbers].reshape(aval.shape)

    def stacked(self, leaves: Sequence[int]) -> jax.Array:
        """Host numbers of one shape and dtype along a new axis, by one operation: the time to compile must
        not grow with their number."""
        aval = self.avals[leaves[0]]
        numbers = self.hosts[leaves[0]]
        if type(numbers) is tuple:
            return jnp.broadcast_to(self[leaves[0]], (len(leaves), *aval.shape))
        slot = self.slices[leaves[0]][0]
        rows = np.array([self.slices[i][1] for i in leaves])[:, None] + np.arange(numbers)
        return self.packed[slot].at[rows].get(mode="promise_in_bounds").reshape(len(leaves), *aval.shape)
