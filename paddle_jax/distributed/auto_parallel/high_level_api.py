"""Models made parallel without a plan: each device has a copy and a part of every batch, the states of the
optimizer are cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from paddle_jax.distributed.auto_parallel.intermediate.parallelize import exchange
from paddle_jax.distributed.auto_parallel.layers import replicate_unsharded, shard_dataloader
from paddle_jax.distributed.auto_parallel.optimizers import ShardingStage1, shard_optimizer
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh, get_mesh

if TYPE_CHECKING:
    from paddle_jax.distributed.auto_parallel.layers import ShardDataloader
    from paddle_jax.nn.layer.layers import Layer
    from paddle_jax.optimizer.optimizer import Optimizer


class ToDistributedConfig:
    """Settings of `to_distributed`. input_spec: accepted. sequence_parallel: only False.

    Example:
        >>> paddle.distributed.auto_parallel.high_level_api.ToDistributedConfig().sequence_parallel
        False
    """

    def __init__(self) -> None:
        self.input_spec: Any = None
        self.sequence_parallel = False


def to_distributed(
    model: Layer,
    optimizer: Optimizer,
    dataloader: Any,
    device_num: int,
    node_num: int = 1,
    config: Any = None,
) -> tuple[Any, Optimizer | None, ShardDataloader]:
    """Makes a program for one device one for several, without a plan: each device has a copy of the model,
    and a part of every batch and of the states of the optimizer. Values are those of one device.

    Differs from Paddle: any model will do; Paddle looks for the layers of a few known ones, to
        cut them as well.

    Args:
        model: Layer. Its parameters are replaced.
        optimizer: Optimizer of the model; it gets the new parameters.
        dataloader: DataLoader. Its batches are those of all devices together.
        device_num: int, devices in all.
        node_num: int, machines; accepted for compatibility.
        config: ToDistributedConfig.
    Returns:
        (model, optimizer, dataloader).
    Raises:
        ValueError: there are fewer devices. NotImplementedError: the config asks for sequence parallelism.
    Example:
        >>> net = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.Adam(parameters=net.parameters())
        >>> loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.ones([4, 2])]), batch_size=2)
        >>> net, optimizer, loader = paddle.distributed.to_distributed(net, optimizer, loader, device_num=1)
        >>> [x.placements for (x,) in loader]
        [[Shard(dim=0)], [Shard(dim=0)]]
    """
    if config is not None and config.sequence_parallel:
        raise NotImplementedError(
            "to_distributed: config: sequence_parallel needs the layers named; "
            "use parallelize with the SequenceParallel plans"
        )
    if not isinstance(device_num, int) or not 0 < device_num <= jax.device_count():
        raise ValueError(
            f"to_distributed: device_num: got {device_num!r}; there are {jax.device_count()} devices"
        )
    mesh = ProcessMesh(np.arange(device_num), dim_names=["dp"])
    onto(model, optimizer, mesh)
    if optimizer is not None:
        optimizer = shard_optimizer(optimizer, ShardingStage1("dp", mesh))
    return model, optimizer, shard_dataloader(dataloader, mesh, shard_dims="dp")


def mesh_for(model: Any) -> Any:
    """The mesh that a model lies on; for one on one device that of `set_mesh`, or one of all devices."""
    there = next((p.process_mesh for p in model.parameters() if p.is_dist()), None)
    return there or get_mesh() or ProcessMesh(np.arange(jax.device_count()), dim_names=["dp"])


def onto(model: Any, optimizer: Any, mesh: Any) -> None:
    """Gives each device of a mesh a copy of what of a model is on one device, and the optimizer
    the new parameters."""
    # `replicate_unsharded` replaces Parameters, and the optimizer has to follow.
    before = dict(model.named_parameters())
    replicate_unsharded(model, mesh)
    if optimizer is not None and any(not p.is_dist() for p in before.values()):
        exchange(optimizer, before, dict(model.named_parameters()))
