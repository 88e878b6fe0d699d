"""The older way to say how a Tensor lies on a mesh: a name of a mesh dimension, or None, for
each of its axes."""

from __future__ import annotations

from typing import Any

from paddle_jax.distributed.auto_parallel.placement_type import Replicate, Shard
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh


class DistAttr:
    """How a Tensor lies on the devices of a mesh: for each axis the mesh dimension that cuts it.

    Args:
        mesh: ProcessMesh.
        sharding_specs: list with one item for each axis: the name of a dimension of the mesh, or None.
    Raises:
        ValueError: `mesh` is no ProcessMesh, `sharding_specs` no list, or the mesh has no such dimension.
    Example:
        >>> mesh = paddle.distributed.ProcessMesh([[0, 1], [2, 3]], dim_names=["x", "y"])
        >>> paddle.distributed.DistAttr(mesh, ["y", None]).dims_mapping
        [1, -1]
    """

    def __init__(self, mesh: ProcessMesh | int, sharding_specs: Any) -> None:
        if not isinstance(mesh, ProcessMesh):
            raise ValueError(f"DistAttr: mesh: got {type(mesh).__name__}; it must be a ProcessMesh")
        if not isinstance(sharding_specs, list):
            raise ValueError(
                f"DistAttr: sharding_specs: got {type(sharding_specs).__name__}; "
                "it must be a list with a name or None for each axis"
            )
        for name in sharding_specs:
            if name is not None and name not in mesh.dim_names:
                raise ValueError(
                    f"DistAttr: sharding_specs: got {name!r}; the mesh has the dimensions {mesh.dim_names}"
                )
        self._mesh, self._specs = mesh, list(sharding_specs)

    @property
    def process_mesh(self) -> ProcessMesh:
        """The ProcessMesh."""
        return self._mesh

    @property
    def sharding_specs(self) -> list[str | None]:
        """The names, a list."""
        return list(self._specs)

    @property
    def dims_mapping(self) -> list[int]:
        """For each axis the number of the mesh dimension that cuts it, -1 for none."""
        names = self.process_mesh.dim_names
        return [-1 if name is None else names.index(name) for name in self._specs]

    @property
    def placements(self) -> list[Any]:
        """The same as a list of placements, one for each dimension of the mesh, which
        `shard_tensor` takes."""
        return [
            Shard(self._specs.index(name)) if name in self._specs else Replicate()
            for name in self.process_mesh.dim_names
        ]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DistAttr)
            and self.process_mesh == other.process_mesh
            and self.dims_mapping == other.dims_mapping
        )

    def __hash__(self) -> int:
        return hash((self.process_mesh, tuple(self.dims_mapping)))
