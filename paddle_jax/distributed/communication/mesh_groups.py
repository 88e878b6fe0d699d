"""The groups of processes along the dimensions of a mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.process_group.registry import Groups
from paddle_jax.distributed.collective import new_group
from paddle_jax.distributed.communication.group import is_initialized
from paddle_jax.distributed.parallel import get_rank

if TYPE_CHECKING:
    from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh


def group_along(mesh: ProcessMesh, dim: str | None) -> Any:
    """See `ProcessMesh.get_group`. Groups of the same processes are made once; all processes make all of
    them, in the same order."""
    if not is_initialized():
        raise CheckError(
            "ProcessMesh.get_group: there are no groups yet; "
            "call paddle.distributed.init_parallel_env first, in a program of several processes "
            "(within one process use reshard or local_map)"
        )
    if dim is None and mesh.ndim > 1:
        raise ValueError(
            "ProcessMesh.get_group: dim_name: got None; the mesh has several dimensions, "
            f"name one of {mesh.dim_names}"
        )
    if dim is not None and dim not in mesh.dim_names:
        raise ValueError(f"ProcessMesh.get_group: dim_name: got {dim!r}; the mesh has {mesh.dim_names}")
    at = 0 if dim is None else mesh.dim_names.index(dim)
    # one row for each line of devices along the dimension
    rows = np.moveaxis(mesh.mesh, at, -1).reshape(-1, mesh.shape[at]).tolist()
    # Also those of others: all processes have to make each group.
    groups = [_of(sorted(row)) for row in rows]
    # A process outside of the mesh gets the first group, of which it is no member.
    return next((group for group in groups if get_rank() in group.ranks), groups[0])


def _of(ranks: Any) -> Any:
    return next((group for group in Groups.known.values() if group.ranks == ranks), None) or new_group(ranks)
