"""Tensors on the devices of several processes, from the part that each process has."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tensors.held_values import read_raw
from paddle_jax._core.tensors.tensor import Tensor, wrap
from paddle_jax.autograd import PyLayer
from paddle_jax.distributed.auto_parallel.layout import DistLayout
from paddle_jax.distributed.auto_parallel.placement_type import Replicate, Shard
from paddle_jax.distributed.auto_parallel.reshard import reshard_tensor


def has_other_processes(layout: DistLayout) -> bool:
    """Whether other processes have devices of the mesh of a layout."""
    here = jax.process_index()
    return any(device.process_index != here for device in layout.mesh.jax_mesh().devices.flat)


def stacked(part: Tensor, layout: DistLayout, reduced: list[int]) -> Tensor:
    """The parts of all devices as one Tensor. All processes call it, with parts of one shape.

    Args:
        part: Tensor, the part that each device of this process has.
        layout: DistLayout of the result without the first axes.
        reduced: dimensions of the mesh along which parts are stacked, each on a first axis of its own.
    Returns:
        Tensor whose axes are longer by the lengths of the dimensions that cut them; gradients flow back.
    """
    placements: list[Any] = [Replicate()] * layout.mesh.ndim
    for dimension, placement in enumerate(layout.placements):
        if placement.is_shard():
            # Axes in front are for the dimensions that are reduced.
            placements[dimension] = Shard(placement.get_dim() + len(reduced))
    for axis, dimension in enumerate(reduced):
        placements[dimension] = Shard(axis)
        part = part.unsqueeze(0)
    joined: Any = _Joined.apply(part, DistLayout(layout.mesh, placements))
    return joined


class _Joined(PyLayer):
    """Parts of processes as one Tensor."""

    @staticmethod
    def forward(ctx: Any, part: Tensor, layout: DistLayout) -> Tensor:
        ctx.layout = layout
        shape = list(part.shape)
        for placement, count in zip(layout.placements, layout.mesh.shape, strict=True):
            if placement.is_shard():
                shape[placement.get_dim()] *= count
        sharding = layout.sharding(shape)
        array = to_numpy(to_array(read_raw(part)), "joining the parts of processes")
        # All devices of this process have the same part.
        own = [jax.device_put(array, device) for device in sharding.addressable_devices]
        return wrap(jax.make_array_from_single_device_arrays(tuple(shape), sharding, own, dtype=array.dtype))

    @staticmethod
    def backward(ctx: Any, cotangent: Tensor) -> Tensor:
        array: Any = to_array(read_raw(reshard_tensor(cotangent, ctx.layout)))
        # Copies of a piece have the same slope; different pieces of this process add up.
        pieces = {str(shard.index): np.asarray(shard.data) for shard in array.addressable_shards}
        return wrap(jax.numpy.asarray(sum(pieces.values())))
