"""Fully sharded data parallelism: each device keeps a piece of every Parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import numpy as np

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.auto_parallel.layers import replicate_unsharded
from paddle_jax.distributed.auto_parallel.layout import DistLayout
from paddle_jax.distributed.auto_parallel.optimizers import ShardingStage3, prepare
from paddle_jax.distributed.auto_parallel.placement_type import Shard
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh, get_mesh
from paddle_jax.distributed.auto_parallel.weights import UNCUT, gather_weights
from paddle_jax.nn import Layer

__all__ = []


class MixedPrecisionPolicy(NamedTuple):
    """Dtypes of Parameters, sums of gradients and results; None: as they are.

    Attributes:
        param_dtype: dtype of Parameters.
        reduce_dtype: dtype in which gradients are summed.
        output_dtype: dtype of results.
        cast_forward_inputs: whether inputs are cast to param_dtype.
    """

    param_dtype: Any = None
    reduce_dtype: Any = None
    output_dtype: Any = None
    cast_forward_inputs: bool = True


class OffloadPolicy(NamedTuple):
    """Where what is not needed lies on the host.

    Attributes:
        pin_memory: whether its memory is pinned.
    """

    pin_memory: bool = True


class _Chosen(ShardingStage3):
    """ShardingStage3 that cuts the axis that a function names."""

    def __init__(self, mesh: ProcessMesh, choose: Callable[[Tensor], Shard | None] | None) -> None:
        super().__init__(0, mesh)
        self._choose = choose

    def layout(self, param: Any) -> DistLayout:
        """How a Parameter and its states lie."""
        found = super().layout(param)
        placement = None if self._choose is None else self._choose(param)
        if placement is None:
            return found
        # The first dimension of the mesh is the one that is cut along.
        return DistLayout(found.mesh, [placement, *found.placements[1:]])


def fully_shard(
    module: Layer,
    *,
    mesh: ProcessMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: Callable[[Tensor], Shard | None] | None = None,
    mp_policy: MixedPrecisionPolicy | None = None,
    offload_policy: OffloadPolicy | None = None,
    ignored_params: Iterable[Tensor] | None = None,
    enable_tensor_fusion_and_overlap: bool = True,
) -> Layer:
    """Cuts the Parameters of a model among the devices of the first dimension of a mesh, in place. Gradients
    are cut as soon as they are there, and states of an optimizer lie as their Parameters. Layers gather
    their weights when they are called.

    Differs from Paddle: one process is enough, and no dimension of the mesh has to be called "dp".

    Args:
        module: Layer. Its Parameters stay the same objects; those that are sharded before stay so.
        mesh: ProcessMesh. Default None: that of `set_mesh`, or one of all devices of a single process. Inputs
            of several processes must lie on it (`shard_tensor`).
        reshard_after_forward: False or 0: XLA chooses where weights are gathered. Default None: each layer
            gathers its own, and the whole ones are dropped after it.
        shard_placement_fn: (Parameter) -> Shard, which axis is cut. Default None, and where it gives None:
            the first axis that divides.
        mp_policy, offload_policy: must be None, or without dtypes.
        ignored_params: Parameters that are not cut; each device has a copy.
        enable_tensor_fusion_and_overlap: accepted; XLA orders communication.
    Returns:
        The module.
    Raises:
        NotImplementedError: mp_policy has a dtype (use `amp.decorate`), there is an offload_policy, or
            several processes have no mesh.
    Example:
        >>> dist = paddle.distributed
        >>> mesh = dist.ProcessMesh([0], dim_names=["x"])
        >>> net = dist.fsdp.fully_shard(paddle.nn.Linear(4, 2), mesh=mesh)
        >>> net.weight.placements
        [Shard(dim=0)]
    """
    if mp_policy is not None and any(dtype is not None for dtype in mp_policy[:3]):
        raise NotImplementedError(
            f"fully_shard: mp_policy: got {mp_policy}; dtypes are not chosen here, use paddle.amp.decorate"
        )
    if offload_policy is not None:
        raise NotImplementedError(
            "fully_shard: offload_policy: got one; nothing is moved to the host, leave it out"
        )
    if mesh is None:
        mesh = get_mesh()
    if mesh is None:
        # Inputs on no mesh would count as equal on all processes.
        if jax.process_count() > 1:
            raise NotImplementedError(
                f"fully_shard: mesh: got None in a program of {jax.process_count()} processes; give a "
                "ProcessMesh, and inputs that shard_tensor or shard_dataloader has put on it"
            )
        mesh = ProcessMesh(np.arange(jax.device_count()), ["dp"])
    stage = _Chosen(mesh, shard_placement_fn)
    ignored = {id(parameter) for parameter in ignored_params or ()}
    chosen = [parameter for parameter in module.parameters() if id(parameter) not in ignored]
    for parameter in chosen:
        if getattr(parameter, UNCUT, None) is None:  # a block of the model may be sharded before
            prepare(stage, parameter)
    # Ignored parameters and buffers are used beside the others, so they need copies.
    replicate_unsharded(module, mesh)
    gathers = reshard_after_forward is None or reshard_after_forward
    if gathers and any(getattr(parameter, UNCUT, None) is not None for parameter in chosen):
        gather_weights(module)
    return module
