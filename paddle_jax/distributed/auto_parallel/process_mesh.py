"""Meshes of devices with named dimensions."""

from __future__ import annotations

import functools as ft
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.base.interrupt_safe import InterruptSafeCall
from paddle_jax._core.lazy.devices import bind_to_meshes
from paddle_jax._core.lazy.multi_device import MultiDevice
from paddle_jax._core.process_group import failure_detector
from paddle_jax.distributed.auto_parallel.mesh_transfer import read_on_all
from paddle_jax.distributed.communication.mesh_groups import group_along
from paddle_jax.distributed.parallel import get_rank


class ProcessMesh:
    """Devices in an array with named dimensions, which placements of Tensors refer to.

    Args:
        mesh: list (nested) or NumPy array of ints, the numbers of the devices; no number twice.
        dim_names: list of str, a name for each dimension. Default: d0, d1, ...
        shape: list of int, with `process_ids` instead of `mesh`: the lengths of the dimensions.
        process_ids: list of int, the numbers of the devices in row-major order.
    Raises:
        ValueError: `mesh` is no list or array, or ragged; `dim_names` is no list.
        AssertionError: a number is negative, no integer, or there twice; names do not match the dimensions,
            or are there twice.
        TypeError: a name is no str.
    Example:
        >>> mesh = paddle.distributed.ProcessMesh([[0, 1], [2, 3]], dim_names=["x", "y"])
        >>> print(mesh)
        shape [2, 2], process_ids [0, 1, 2, 3], dim_names ['x', 'y']
        >>> mesh.get_dim_size("y")
        2
    """

    def __init__(
        self,
        mesh: Any = None,
        dim_names: Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        process_ids: Sequence[int] | None = None,
    ) -> None:
        if mesh is None:
            if shape is None or process_ids is None:
                raise CheckError(
                    "ProcessMesh: mesh: got None; pass a list or array of device numbers, "
                    "or `shape` and `process_ids`"
                )
            mesh = np.array(process_ids).reshape(shape)
        if not isinstance(mesh, list | np.ndarray):
            raise ValueError(
                f"ProcessMesh: mesh: got {type(mesh).__name__}; "
                "it must be a list or a NumPy array of device numbers"
            )
        if dim_names is not None and not isinstance(dim_names, list):
            raise ValueError(
                f"ProcessMesh: dim_names: got {type(dim_names).__name__}; it must be a list of str"
            )
        # A copy, which the caller cannot change afterwards.
        self._mesh = _checked(np.array(mesh))
        if dim_names is None:
            self._names = [f"d{i}" for i in range(self._mesh.ndim)]
        else:
            self._names = list(dim_names)
        if any(not isinstance(name, str) for name in self._names):
            raise TypeError(f"ProcessMesh: dim_names: got {self._names}; each must be a str")
        if len(self._names) != self._mesh.ndim or len(set(self._names)) != len(self._names):
            raise CheckError(
                f"ProcessMesh: dim_names: got {self._names}; "
                f"a mesh of {self._mesh.ndim} dimensions needs that many different names"
            )

    @property
    def mesh(self) -> np.ndarray:
        """The numbers of the devices, a NumPy array."""
        return self._mesh

    @property
    def shape(self) -> list[int]:
        """The lengths of the dimensions, a list."""
        return list(self._mesh.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._mesh.ndim

    @property
    def size(self) -> int:
        """The number of devices."""
        return self._mesh.size

    @property
    def process_ids(self) -> list[int]:
        """The numbers of the devices in row-major order, a list."""
        return self._mesh.ravel().tolist()

    @property
    def dim_names(self) -> list[str]:
        """The names of the dimensions, a list."""
        return list(self._names)

    def empty(self) -> bool:
        """Whether there are no devices in it: never."""
        return False

    @property
    def unique_id(self) -> int:
        """A number that equal meshes of this program share, and no others; int from 1 on, in the order in
        which it is asked for."""
        return _numbers.setdefault((tuple(self.shape), tuple(self.process_ids)), len(_numbers) + 1)

    # Paddle's attributes: PaddleNLP's plans and optimizers read them
    _shape = shape
    _process_ids = process_ids
    _dim_names = dim_names
    _unique_id = unique_id

    def contains(self, process_id: Any) -> bool:
        """Whether a device is in the mesh."""
        return bool((self._mesh == process_id).any())

    def get_dim_size(self, dim: str) -> int:
        """The length of a dimension.

        Args:
            dim: str, its name.
        Raises:
            AssertionError: there is no such dimension.
        """
        if dim not in self._names:
            raise CheckError(f"get_dim_size: dim: got {dim!r}; the mesh has {self._names}")
        return self._mesh.shape[self._names.index(dim)]

    dim_size = get_dim_size

    def get_mesh_with_dim(self, dim_name: str, index: int | None = None) -> ProcessMesh:
        """The mesh with one dimension in front, or the part of it at an index of that dimension.

        Args:
            dim_name: str, the dimension.
            index: int. Default: all, the dimension comes first.
        Returns:
            ProcessMesh.
        Raises:
            AssertionError: there is no such dimension.
        Example:
            >>> mesh = paddle.distributed.ProcessMesh([[0, 1], [2, 3]], dim_names=["x", "y"])
            >>> print(mesh.get_mesh_with_dim("y", 1))
            shape [2], process_ids [1, 3], dim_names ['x']
        """
        if dim_name not in self._names:
            raise CheckError(f"get_mesh_with_dim: dim_name: got {dim_name!r}; the mesh has {self._names}")
        at = self._names.index(dim_name)
        # The dimension in front, so that an index takes a part of it.
        mesh = np.moveaxis(self._mesh, at, 0)
        rest = [name for name in self._names if name != dim_name]
        if index is None:
            return ProcessMesh(mesh, [dim_name, *rest])
        if not rest:
            # A mesh of one dimension keeps its name, so that one device is a mesh too.
            return ProcessMesh([mesh[index]], [dim_name])
        return ProcessMesh(mesh[index], rest)

    def get_submesh_with_dim(self, dim_name: str) -> ProcessMesh:
        """The devices along one dimension among which this process is (the first device,
        if it is in none)."""
        if dim_name not in self._names:
            raise CheckError(f"get_submesh_with_dim: dim_name: got {dim_name!r}; the mesh has {self._names}")
        at = self._names.index(dim_name)
        here = np.argwhere(self._mesh == get_rank())
        index = list(here[0]) if len(here) else [0] * self.ndim
        index[at] = slice(None)
        return ProcessMesh(self._mesh[tuple(index)], [dim_name])

    def get_group(self, dim_name: str | None = None) -> Any:
        """The group of processes along one dimension to which this process belongs, for collectives. All
        processes of the program must call it.

        Args:
            dim_name: str, the dimension; may be left out where there is one.
        Returns:
            Group; one without a part for this process where the mesh does not have it.
        Raises:
            AssertionError: `init_parallel_env` was not called. ValueError: there is no such dimension, or
                none is named and there are several.
        """
        return group_along(self, dim_name)

    def get_rank_by_dim_and_process_id(self, dim: Any, process_id: int) -> int:
        """The position of a device along a dimension; -1 for a device that is not in the mesh.

        Args:
            dim: str or int, the dimension.
            process_id: int, the number of the device.
        Raises:
            ValueError: there is no such dimension.
        """
        at = self._names.index(dim) if isinstance(dim, str) else dim
        found = np.argwhere(self._mesh == process_id)
        if len(found):
            return int(found[0][at])
        return -1

    def __getitem__(self, index: Any) -> ProcessMesh:
        if isinstance(index, str):
            return self.get_submesh_with_dim(index)
        part = self._mesh[index]
        # As for arrays: an integer takes its dimension away, a slice keeps it.
        if isinstance(index, tuple) or part.ndim == self._mesh.ndim:
            if isinstance(index, tuple):
                kept = [n for n, i in zip(self._names, index, strict=False) if isinstance(i, slice)]
            else:
                kept = self._names
            if isinstance(index, tuple):
                kept = [*kept, *self._names[len(index) :]]
        else:
            kept = self._names[1:]
        # A single device is a mesh of one dimension.
        if np.ndim(part):
            return ProcessMesh(part, kept)
        return ProcessMesh([int(part)])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ProcessMesh)
            and self.shape == other.shape
            and self.process_ids == other.process_ids
        )

    def __hash__(self) -> int:
        return hash((tuple(self.shape), tuple(self.process_ids)))

    def __str__(self) -> str:
        return f"shape {self.shape}, process_ids {self.process_ids}, dim_names {self.dim_names}"

    def __deepcopy__(self, memo: Any) -> ProcessMesh:
        # It never changes, so copies of a model share it.
        return self

    def jax_mesh(self) -> Mesh:
        """The `jax.sharding.Mesh` of these devices, with the same names.

        Raises:
            ValueError: this process sees fewer devices.
        """
        return _jax_mesh(tuple(self.shape), tuple(self.process_ids), tuple(self._names))


_numbers: dict[Any, Any] = {}  # (shape, numbers of the devices) of meshes: unique_id


def _checked(mesh: np.ndarray) -> np.ndarray:
    if mesh.size == 0:
        raise ValueError("ProcessMesh: mesh: got no devices; it needs at least one")
    if not np.issubdtype(mesh.dtype, np.integer):
        raise CheckError(
            f"ProcessMesh: mesh: got {mesh.dtype}; all elements must be integers, the numbers of devices"
        )
    if mesh.min() < 0 or len(np.unique(mesh)) != mesh.size:
        raise CheckError(
            f"ProcessMesh: mesh: got {mesh.tolist()}; device numbers must be 0 or more, and none there twice"
        )
    return mesh


@ft.lru_cache(maxsize=1024)
def _jax_mesh(shape: Sequence[int], ids: Sequence[int], names: Sequence[str]) -> Any:
    devices = jax.devices()
    if max(ids) >= len(devices):
        raise ValueError(
            f"ProcessMesh: process_ids: got {max(ids)}; there are {len(devices)} devices, "
            f"0..{len(devices) - 1}; start more processes with paddle.distributed.launch, or on "
            "a CPU set XLA_FLAGS=--xla_force_host_platform_device_count=8 before the start"
        )
    processes = {devices[i].process_index for i in ids}
    # Processes without a device of this mesh read its values from the others.
    if len(processes) < jax.process_count():
        # such a mesh may have a single device
        MultiDevice.in_use = True
        MultiDevice.read_on_all = read_on_all
        InterruptSafeCall.wrapper = staticmethod(MultiDevice.block_if_needed)
        bind_to_meshes()
    if len(ids) > 1:
        MultiDevice.in_use = True
    is_shared = len(processes) > 1
    # Accelerators are not waited for: such a process may end while its last program runs.
    if devices[0].platform == "cpu" and (is_shared or len(ids) > 1 and len(jax.local_devices()) > 1):
        MultiDevice.blocking = True
        InterruptSafeCall.wrapper = staticmethod(MultiDevice.block_if_needed)
        if is_shared:
            MultiDevice.monitor = failure_detector.monitored_program
    return Mesh(np.array([devices[i] for i in ids]).reshape(shape), names)


def mesh_of(jax_mesh: Any) -> ProcessMesh:
    """The ProcessMesh of a `jax.sharding.Mesh`."""
    # By its place: numbers of ProcessMesh count all devices of JAX in order.
    place = {device: i for i, device in enumerate(jax.devices())}
    ids = np.vectorize(place.__getitem__, otypes=[np.int64])(jax_mesh.devices)
    return ProcessMesh(ids, list(map(str, jax_mesh.axis_names)))


class _Default:
    mesh = None


def set_mesh(mesh: Any) -> None:
    """Sets the mesh of the process, which functions take that get none.

    Args:
        mesh: ProcessMesh.
    Example:
        >>> paddle.distributed.set_mesh(paddle.distributed.ProcessMesh([0], dim_names=["x"]))
        >>> paddle.distributed.get_mesh().dim_names
        ['x']
        >>> paddle.distributed.set_mesh(None)
    """
    _Default.mesh = mesh


def get_mesh() -> None:
    """The mesh that `set_mesh` has set, or None.

    Example:
        >>> paddle.distributed.get_mesh() is None
        True
    """
    return _Default.mesh


def create_mesh(mesh_dims: Any) -> None:
    """Makes a mesh of the devices 0, 1, ... and sets it as that of the process.

    Args:
        mesh_dims: list of (name, length), one for each dimension.
    Returns:
        ProcessMesh.
    Example:
        >>> create_mesh = paddle.distributed.auto_parallel.create_mesh
        >>> print(create_mesh([("dp", 2), ("mp", 2)]))
        shape [2, 2], process_ids [0, 1, 2, 3], dim_names ['dp', 'mp']
        >>> paddle.distributed.set_mesh(None)
    """
    names, lengths = zip(*mesh_dims, strict=True)
    set_mesh(ProcessMesh(np.arange(np.prod(lengths)).reshape(lengths), list(names)))
    return get_mesh()


def merge_process_meshes(process_meshes: Any) -> ProcessMesh | None:
    """A mesh of one dimension of all devices in several meshes, by number.

    Args:
        process_meshes: list of ProcessMesh or None.
    Returns:
        ProcessMesh, or None if there is none among them.
    """
    # A device may be in several of the meshes.
    ids = sorted({i for mesh in process_meshes if mesh is not None for i in mesh.process_ids})
    if ids:
        return ProcessMesh(ids)
    return None
