"""Experts of one process that drives several devices: each expert is on devices of its own.

Weights, gradients and states of an expert stay on its devices, and tokens go there and come back. Devices
compute at the same time, as JAX does not wait for results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.held_values import numpy_dtype
from paddle_jax._core.tensors.tensor import host_value
from paddle_jax.distributed.auto_parallel.layout import DENSE, DistLayout, layout_of
from paddle_jax.distributed.auto_parallel.placement_type import Replicate
from paddle_jax.distributed.auto_parallel.reshard import reshard_tensor
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.jit.io import evaluating
from paddle_jax.tensor.axes import unknown
from paddle_jax.tensor.creation import to_tensor, zeros, zeros_like
from paddle_jax.tensor.gathering import gather
from paddle_jax.tensor.joining import concat
from paddle_jax.tensor.manipulation import cast, reshape
from paddle_jax.tensor.scattering import scatter_nd_add

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer

_FEWEST_ROWS = 8  # that an expert gets
Compute = Callable[[Any, Any], Any]  # (expert, rows) -> rows


class DeviceExperts:
    """Experts on devices of their own.

    Attributes:
        experts: LayerList.
        layouts: for each expert the DistLayout of its rows.
        is_by_row: for each expert whether each row of its results depends on one row alone; None: not known.
    """

    def __init__(self, experts: Any, layouts: list[DistLayout]) -> None:
        self.experts = experts
        self.layouts = layouts
        self.is_by_row: list[bool | None] = [_may_be_by_row(expert) for expert in experts]

    @classmethod
    def of(cls, experts: Any) -> DeviceExperts | None:
        """Moves experts to devices of their own; None where all devices have all experts."""
        if Current.grid is None:
            return None
        layouts = [Current.grid.place_expert(one, i, len(experts)) for i, one in enumerate(experts)]
        if None in layouts:
            return None
        return cls(experts, layouts)

    def run(self, x: Tensor, value: Tensor, number: Tensor, compute: Compute) -> Tensor:
        """The sum of what the experts that are chosen give for each row, times the value of the choice.

        Experts get equally many rows, a power of two, so that few shapes are compiled. Rows that fill up
        count nothing. An expert whose rows depend on each other gets its own rows alone.

        Args:
            x: Tensor [rows, width].
            value, number: Tensors [rows, choices]; number -1 is no expert.
            compute: function that calls an expert.
        Raises:
            NotImplementedError: the choices are not known, in a compiled function.
        """
        if unknown(number):
            raise NotImplementedError(
                "MoELayer: its experts are on devices of their own, which one compiled function cannot take; "
                "call it outside of to_static"
            )
        choices = number.shape[1]
        chosen = host_value(number, "MoELayer: choices of experts").reshape(-1)
        counts = np.bincount(chosen[chosen >= 0], minlength=len(self.experts))
        used = np.flatnonzero(counts)
        # A power of 2 for all experts, so that few shapes are compiled.
        length = 1 << int(max(counts.max(), _FEWEST_ROWS) - 1).bit_length()
        indices = np.zeros([len(used), length], np.int64)  # of choices
        # true for rows that only fill up to the length
        is_filled = np.ones([len(used), length, 1], bool)
        for row, i in enumerate(used):
            indices[row, : counts[i]] = np.flatnonzero(chosen == i)
            is_filled[row, : counts[i]] = False
        numbers = indices.reshape(-1) // choices  # of rows
        rows = gather(x, to_tensor(numbers))
        parts = []
        for start, i in zip(range(0, indices.size, length), used.tolist(), strict=True):
            parts.append(self._padded(i, rows[start : start + length], int(counts[i]), compute))
        shares = gather(reshape(value, [-1, 1]), to_tensor(indices.reshape(-1)))
        # A row that fills up has a share of 0.
        shares = shares * to_tensor((~is_filled).reshape(-1, 1).astype(numpy_dtype(value)))
        found = concat(parts)
        found = found * cast(shares, found.dtype)
        # A token may have several experts: their results add up.
        return scatter_nd_add(zeros_like(x, found.dtype), to_tensor(numbers[:, None]), found)

    def _padded(self, index: int, rows: Tensor, count: int, compute: Compute) -> Any:
        """What an expert gives for rows, of which `count` are its own; what else comes out does not count."""
        if self.is_by_row[index] is None:
            self.is_by_row[index] = self._treats_rows_alone(index, rows)
        if self.is_by_row[index]:
            return self._computed(index, rows, compute)
        # Rows that fill up would change statistics: this expert gets its own rows alone.
        found = self._computed(index, rows[:count], compute)
        return concat([found, zeros([rows.shape[0] - count, found.shape[1]], found.dtype)])

    def _computed(self, index: int, rows: Tensor, compute: Compute) -> Any:
        """What an expert gives for rows, on its devices; results lie where the rows did."""
        back = layout_of(rows) or DENSE
        if back is not DENSE:  # rows of an expert do not divide as those of a batch
            back = DistLayout(back.mesh, [Replicate()] * back.mesh.ndim)
        there = reshard_tensor(rows, self.layouts[index])
        return reshard_tensor(compute(self.experts[index], there), back)

    @no_grad()
    def _treats_rows_alone(self, index: int, rows: Tensor) -> bool:
        """Whether an expert gives the same for some rows without the others."""
        # Where the other half of the rows changes nothing, rows that fill up do not either.
        half = rows.shape[0] // 2
        with evaluating(self.experts[index]):  # nothing is dropped
            whole, first = (self._computed(index, part, _call).numpy() for part in (rows, rows[:half]))
        # Loose, since a product of another length may add up in another order.
        return np.allclose(whole[:half].astype(float), first.astype(float), rtol=1e-2, atol=1e-3)


def _call(expert: Any, rows: Any) -> Any:
    return expert(rows)


def _may_be_by_row(expert: Layer) -> bool | None:
    """False for experts with statistics, such as those of batch normalisation; None: their results say."""
    has_statistics = expert.buffers() or any(param.stop_gradient for param in expert.parameters())
    return False if has_statistics else None
