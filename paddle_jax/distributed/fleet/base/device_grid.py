"""The devices of one process, in a grid of the degrees of a strategy: `fleet` without a launcher."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.execution.python_state import map_tensors
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.auto_parallel.layout import DistLayout, layout_of
from paddle_jax.distributed.auto_parallel.optimizers import ShardingStage1, shard_optimizer
from paddle_jax.distributed.auto_parallel.placement_type import Placement, Replicate, Shard
from paddle_jax.distributed.auto_parallel.plans import laid_out
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh
from paddle_jax.distributed.auto_parallel.reshard import move, reshard_tensor
from paddle_jax.distributed.auto_parallel.ring_attention import attention_in_rings
from paddle_jax.distributed.fleet.base.topology import NAMES, SHORT_NAMES, CommunicateTopology

__all__ = []

STAGES = "pp"  # the mesh dimension of pipeline stages
_BATCH = ("dp", "sharding")  # the mesh dimensions along which rows of a batch are cut
_SEQUENCE = ("sep", "cp")  # those along which its second axis is cut
_SHORT = {axis: short for short, axis in SHORT_NAMES.items()}


class DeviceGrid:
    """The devices of this process, one for each place in a grid of degrees.

    Values of Tensors are global: a layout only says which device has which part.

    Args:
        topology: CommunicateTopology of the degrees.
    Raises:
        ValueError: this process sees fewer devices.

    Attributes:
        topology: CommunicateTopology of the degrees.
        mesh: ProcessMesh with a dimension for each degree above 1, and "dp".
        stages: how many pipeline stages there are.
        stage: the stage whose layers are made at the moment.
    """

    def __init__(self, topology: CommunicateTopology) -> None:
        check_devices(topology)
        self.topology = topology
        axes = topology.get_hybrid_group_names()
        lengths = {_SHORT[axis]: topology.get_dim(axis) for axis in axes}
        # Dimensions of length 1 cut nothing. One must stay, so that a single device is a mesh.
        kept = {name: length for name, length in lengths.items() if length > 1 or name == "dp"}
        ids = np.arange(topology.world_size()).reshape(list(kept.values()))
        self.mesh: ProcessMesh = ProcessMesh(ids, list(kept))
        self.stages: int = topology.get_dim("pipe")
        self.stage: int = 0

    def stage_mesh(self, stage: int) -> ProcessMesh:
        """The mesh of the devices of a pipeline stage."""
        if self.stages == 1:
            return self.mesh
        return self.mesh.get_mesh_with_dim(STAGES, stage)

    def degree(self, name: str) -> int:
        """The length of a dimension of the mesh; 1 for one that it does not have."""
        if name in self.mesh.dim_names:
            return self.mesh.get_dim_size(name)
        return 1

    @contextlib.contextmanager
    def making(self, stage: int) -> Iterator[None]:
        """Layers that are made inside lie on the devices of a stage."""
        before = self.stage
        self.stage = stage
        try:
            yield
        finally:
            self.stage = before

    def cut(self, tensor: Tensor, axis: int, name: str = "mp") -> None:
        """Cuts a Tensor in place along a dimension of the mesh of the stage that is made."""
        if self.degree(name) > 1:
            move(tensor, self._layout({name: axis}, self.stage))

    def cut_again(self, tensor: Tensor, axis: int | None, name: str = "mp") -> Tensor:
        """A Tensor on a mesh of the grid with an axis cut along one of its dimensions, or with none."""
        mesh = tensor.process_mesh
        if name not in mesh.dim_names:
            return tensor
        return laid_out(tensor, mesh, Replicate() if axis is None else Shard(axis), name)

    def replicate(self, tensors: list[Tensor], stage: int = 0) -> None:
        """Gives the devices of a stage copies of Tensors, in place; one that lies on a mesh stays there."""
        layout = self._layout({}, stage)
        for tensor in tensors:
            if not tensor.is_dist():
                move(tensor, layout)

    def place_expert(self, layer: Any, index: int, count: int) -> DistLayout | None:
        """Moves one of `count` experts to its devices, along the dimension that rows are cut along.

        Returns:
            The DistLayout of rows for it; None where rows are not cut, and all devices have all experts.
        """
        name = next((name for name in _BATCH if self.degree(name) > 1), None)
        if name is None:
            return None
        whole = self.stage_mesh(self.stage).get_mesh_with_dim(name)
        # Experts in blocks: the first ones on the first device, as many on each.
        place = index * self.degree(name) // count
        # A slice keeps the dimension, so the mesh has the same names.
        ids = np.array(whole.process_ids).reshape(whole.shape)[place : place + 1]
        mesh = ProcessMesh(ids, whole.dim_names)
        replicated: list[Placement] = [Replicate()] * mesh.ndim
        for tensor in (*layer.parameters(), *layer.buffers()):
            placements = dict.fromkeys(mesh.dim_names, Replicate())
            if tensor.is_dist():  # cut by a tensor parallel layer
                placements |= dict(zip(tensor.process_mesh.dim_names, tensor.placements, strict=True))
            move(tensor, DistLayout(mesh, [placements[name] for name in mesh.dim_names]))
        return DistLayout(mesh, replicated)

    def leaves(self, value: Any, stage: int) -> Any:
        """What a stage has given, as another one takes it: leaves of its tape on its devices. `stop_gradient`
        stays as it is."""

        def leaf(tensor: Tensor) -> Tensor:
            # Detached: each stage has a tape of its own, and the schedule carries gradients between them.
            moved = reshard_tensor(tensor.detach(), self._batch_layout(tensor, stage))
            moved.stop_gradient = tensor.stop_gradient
            return moved

        return map_tensors(value, leaf)

    def attention(self, stage: int = 0) -> contextlib.AbstractContextManager:
        """Inside, attention over a sequence that is cut along "cp" or "sep" runs in rings."""
        dims = [name for name in _SEQUENCE if self.degree(name) > 1]
        # A ring runs along one dimension.
        if len(dims) != 1:
            return contextlib.nullcontext()
        # Rows and heads stay cut; the sequence travels in the ring.
        axes = dict.fromkeys(_BATCH, 0) | {dims[0]: 1, "mp": 2}
        layout = self._layout(axes, stage)
        return attention_in_rings(layout.mesh, dims[0], list(layout.placements))

    def lent(self, layer: Any, stage: int) -> contextlib.AbstractContextManager:
        """Inside, a Layer has its Parameters and buffers on the devices of a stage. Gradients go back to the
        devices of the Layer."""
        return _Lent(layer, self.stage_mesh(stage))

    def shard_states(self, optimizer: Any) -> Any:
        """Cuts the states of an optimizer along "sharding"; without that degree they lie as Parameters do."""
        if self.degree("sharding") == 1:
            return optimizer
        return shard_optimizer(optimizer, ShardingStage1("sharding", self.mesh))

    def batch(self, value: Any, stage: int = 0) -> Any:
        """A nest of Tensors as the devices of a stage take it: rows are cut along "dp" and "sharding", the
        second axis along "sep". What does not divide is copied."""

        def on_stage(tensor: Tensor) -> Tensor:
            if tensor.is_dist() and tensor.process_mesh == self.stage_mesh(stage):
                return tensor
            return reshard_tensor(tensor, self._batch_layout(tensor, stage))

        return map_tensors(value, on_stage)

    def _batch_layout(self, tensor: Any, stage: Any) -> DistLayout:
        # A number, such as a scale, has no rows to cut.
        axes = dict.fromkeys(_BATCH, 0) if tensor.ndim > 0 else {}
        if tensor.ndim > 1:
            axes |= dict.fromkeys(_SEQUENCE, 1)
        return self._layout(axes, stage)

    def _layout(self, axes: Any, stage: Any) -> DistLayout:
        """The DistLayout that cuts an axis for some dimensions of the mesh of a stage: {dimension: axis}."""
        mesh = self.stage_mesh(stage)
        placements: list[Placement] = [Replicate()] * mesh.ndim
        for place, name in enumerate(mesh.dim_names):
            if name in axes:
                placements[place] = Shard(axes[name])
        return DistLayout(mesh, placements)


class _Lent(contextlib.AbstractContextManager):
    """See `DeviceGrid.lent`.

    Attributes:
        layer: the Layer.
        mesh: ProcessMesh it is used on.
        own: for each store of Tensors of the Layer: what it holds outside.
    """

    def __init__(self, layer: Any, mesh: Any) -> None:
        self.layer = layer
        self.mesh = mesh
        self.own = []

    def __enter__(self) -> None:
        for part in self.layer.sublayers(include_self=True):
            for store in (part._parameters, part._buffers):
                self.own.append((store, dict(store)))
                for name, tensor in store.items():
                    if tensor is not None and tensor.process_mesh != self.mesh:
                        placements = layout_of(tensor).placements
                        store[name] = reshard_tensor(tensor, DistLayout(self.mesh, placements))

    def __exit__(self, *raised: Any) -> None:
        for store, tensors in self.own:
            store.update(tensors)


def check_devices(topology: CommunicateTopology) -> None:
    """Refuses degrees that make up more devices than this process sees.

    Raises:
        ValueError: they do.
    """
    wanted = topology.world_size()
    present = jax.local_device_count()
    if wanted <= present:
        return
    named = [name for name in NAMES if name in topology.get_hybrid_group_names()]
    degrees = {_SHORT[name]: topology.get_dim(name) for name in named if topology.get_dim(name) > 1}
    found = ", ".join(f"{name}_degree {size}" for name, size in degrees.items())
    raise CheckError(
        f"fleet.init: strategy: the degrees make up {wanted} devices ({found}), and this process sees "
        f"{present}; lower them, start {wanted} processes with paddle.distributed.launch, or on a CPU set "
        f"XLA_FLAGS=--xla_force_host_platform_device_count={wanted} before the start"
    )
