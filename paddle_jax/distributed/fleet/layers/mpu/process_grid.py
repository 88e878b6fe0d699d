"""Static programs whose operations exchange values between processes while the program runs.

Every process compiles the same program, over a mesh of one device of each process. Operands and results are
those of a process; only the operations of `static_split.py` know of the others.
"""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from paddle_jax._core.base.interrupt_safe import interrupt_safe_jit
from paddle_jax.distributed.collective import new_group
from paddle_jax.distributed.communication.group import Group, default_group

__all__ = []

COPIES = "copies"  # the mesh axis of processes that have the same part of a weight
PARTS = "parts"  # that of the processes that together have a weight
SYNC_BATCH_NORM = "sync_batch_norm_train"
# the operations that exchange values
EXCHANGES = frozenset(
    ["c_identity", "mp_allreduce_sum", "c_concat", "c_split", "c_embedding", SYNC_BATCH_NORM]
)
_KNOWN: dict[tuple[int, int], ProcessGrid] = {}


class ProcessGrid:
    """The processes of a job, in a grid of copies and parts of weights.

    Neighbours in rank have the parts of one weight. All processes make the same grids, in the same order.

    Args:
        part_count: int, processes that together have a weight; it divides the number of processes.

    Attributes:
        part_count: as given.
        group: Group of all processes.
        mesh: Mesh with the axes COPIES and PARTS, one device of each process.
        same_part: Group of the processes with the same part as this one; None where there are no others.
    """

    def __init__(self, part_count: int) -> None:
        self.part_count = part_count
        self.group: Group = default_group()
        devices = np.array(self.group.process_group.mesh.devices).reshape(-1, part_count)
        self.mesh = Mesh(devices, (COPIES, PARTS))
        self.same_part: Group | None = None
        if len(devices) > 1:
            for part in range(part_count):
                # All processes make all of them, and keep their own.
                made = new_group(list(range(part, devices.size, part_count)))
                if made.is_member():
                    self.same_part = made

    @staticmethod
    def is_used_by(ops: Sequence[Any]) -> bool:
        """Whether Operations exchange values, so that all processes must run them together."""
        return any(op.name in EXCHANGES for op in ops)

    def compiled(self, body: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        """The function of a run, of the arrays of this process."""
        return _Compiled(self, body)


class _Compiled:
    """A run of all processes of a grid.

    Attributes:
        grid: ProcessGrid.
        body: function of the arrays of one process.
        functions: dict from the structure of the arguments to the compiled function.
    """

    def __init__(self, grid: ProcessGrid, body: Callable[..., list[Any]]) -> None:
        self.grid = grid
        self.body = body
        self.functions: dict[Any, Any] = {}

    def __call__(self, *arguments: Any) -> list[Any]:
        arrays, tree = jax.tree.flatten(arguments)
        # The structure of the operands decides the program; jit distinguishes shapes itself.
        if tree not in self.functions:
            self.functions[tree] = self._function(tree)
        process_group = self.grid.group.process_group
        shapes = ", ".join(str(list(np.shape(array))) for array in arrays)
        return process_group.run_together(
            f"Executor.run(program with {len(arrays)} operands of the shapes {shapes})",
            ft.partial(self._run, self.functions[tree], arrays, process_group.device),
        )

    def _run(self, function: Any, arrays: Sequence[Any], device: Any) -> list[Any]:
        results = function([self._over_processes(array, device) for array in arrays])
        # A process has one device, so its row is its only part.
        return [result.addressable_data(0).reshape(result.shape[1:]) for result in results]

    def _over_processes(self, array: Any, device: Any) -> jax.Array:
        """The array of this process as its row of an array over all of them."""
        shape = (self.grid.mesh.size, *np.shape(array))
        row = jax.device_put(np.asarray(array)[None], device)
        sharding = NamedSharding(self.grid.mesh, P((COPIES, PARTS)))
        return jax.make_array_from_single_device_arrays(shape, sharding, [row])

    def _function(self, tree: Any) -> Any:
        """The compiled function of arrays with a row for each process."""

        def of_one_process(arrays: list[jax.Array]) -> list[jax.Array]:
            # Each process has one row: the axis of rows is taken off, and put back on results.
            results = self.body(*jax.tree.unflatten(tree, [array[0] for array in arrays]))
            return [jax.numpy.asarray(result)[None] for result in results]

        rows = P((COPIES, PARTS))
        mapped = jax.shard_map(
            of_one_process, mesh=self.grid.mesh, in_specs=rows, out_specs=rows, check_vma=False
        )
        return interrupt_safe_jit(mapped)


def process_grid(part_count: int) -> ProcessGrid:
    """The grid of a number of parts; made once for a group of all processes."""
    # By id: a later `init` makes another group. The grid holds its group, so no other gets the id.
    key = (id(default_group()), part_count)
    if key not in _KNOWN:
        _KNOWN[key] = ProcessGrid(part_count)
    return _KNOWN[key]
