"""What `fleet.distributed_model` makes of a Layer."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.communication.data_movement import broadcast
from paddle_jax.distributed.data_parallel import same_everywhere
from paddle_jax.distributed.expert_marks import is_expert
from paddle_jax.distributed.fleet.base.registry import Current
from paddle_jax.distributed.fleet.meta_parallel.process_ring import attention_over
from paddle_jax.distributed.fleet.utils.hybrid_parallel_util import broadcast_moe_sharding_parameters
from paddle_jax.nn import Layer

if TYPE_CHECKING:
    from paddle_jax.distributed.communication.group import Group
    from paddle_jax.distributed.fleet.base.distributed_strategy import DistributedStrategy
    from paddle_jax.distributed.fleet.base.topology import HybridCommunicateGroup


def _alike(tensors: Sequence[Tensor], group: Group) -> None:
    if group.is_member() and tensors:
        same_everywhere(tensors, group)


class MetaParallelBase(Layer):
    """A Layer whose Parameters and buffers begin alike on the processes that hold the same part.

    Args:
        layers: Layer.
        hcg: HybridCommunicateGroup.
        strategy: accepted.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> _ = fleet.init(is_collective=True)
        >>> groups = fleet.get_hybrid_communicate_group()
        >>> net = fleet.meta_parallel.MetaParallelBase(paddle.nn.Linear(2, 1), groups)
        >>> net(paddle.ones([3, 2])).shape
        paddle.Size([3, 1])
    """

    def __init__(
        self, layers: Layer, hcg: HybridCommunicateGroup, strategy: DistributedStrategy | None = None
    ) -> None:
        super().__init__(layers.full_name() + "_" + type(self).__name__.lower())
        self._layers = layers
        self._hcg = hcg
        self._strategy = strategy
        # Experts differ by process on purpose.
        tensors = [t for t in (*layers.parameters(), *layers.buffers()) if not is_expert(t)]
        # Parts of weights differ within the model parallel group by intention.
        _alike(
            [t for t in tensors if not getattr(t, "is_distributed", False)], hcg.get_model_parallel_group()
        )
        groups = [hcg.get_sharding_parallel_group(), hcg.get_data_parallel_group()]
        # Asking for a group of length 1 is refused.
        if hcg.get_sep_parallel_world_size() > 1:
            groups.append(hcg.get_sep_parallel_group())
        if hcg.get_context_parallel_world_size() > 1:
            groups.append(hcg.get_context_parallel_group())
        for group in groups:
            _alike(tensors, group)
        if hcg.get_moe_sharding_parallel_world_size() > 1:
            broadcast_moe_sharding_parameters(layers, hcg)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Calls the Layer within."""
        with self._attention():
            return self._layers(*inputs, **kwargs)

    def _attention(self) -> contextlib.AbstractContextManager:
        """Inside, attention is over the sequence of all processes of the context parallel group."""
        if self._hcg.get_context_parallel_world_size() > 1:
            return attention_over(self._hcg.get_context_parallel_group())
        return contextlib.nullcontext()

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The state of the Layer within, under its own names."""
        return self._layers.state_dict(*args, **kwargs)

    def set_state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Loads a state into the Layer within."""
        return self._layers.set_state_dict(*args, **kwargs)

    set_dict = set_state_dict
    load_dict = set_state_dict


class TensorParallel(MetaParallelBase):
    """A Layer with parts (such as ColumnParallelLinear): Parameters that are no parts begin alike, and each
    call computes with the input of the first process of the model parallel group.

    Args:
        layers: Layer.
        hcg: HybridCommunicateGroup.
        strategy: accepted.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> _ = fleet.init(is_collective=True)
        >>> groups = fleet.get_hybrid_communicate_group()
        >>> net = fleet.meta_parallel.TensorParallel(paddle.nn.Linear(2, 1), groups)
        >>> net(paddle.ones([3, 2])).shape
        paddle.Size([3, 1])
    """

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Calls the Layer within, with the Tensors of the first process of the group."""
        group = self._hcg.get_model_parallel_group()
        # A value with a gradient belongs to the program's own graph; broadcast would cut it.
        for one in (*inputs, *kwargs.values()):
            if isinstance(one, Tensor) and one.stop_gradient and group.is_member():
                broadcast(one, group.ranks[0], group)
        return super().forward(*inputs, **kwargs)


class ShardingParallel(MetaParallelBase):
    """A Layer whose optimizer states are divided among processes; each computes with its part of the batch.

    Args:
        layers: Layer.
        hcg: HybridCommunicateGroup.
        strategy: accepted.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> _ = fleet.init(is_collective=True)
        >>> groups = fleet.get_hybrid_communicate_group()
        >>> net = fleet.meta_parallel.ShardingParallel(paddle.nn.Linear(2, 1), groups)
        >>> net(paddle.ones([3, 2])).shape
        paddle.Size([3, 1])
    """


class SegmentParallel(MetaParallelBase):
    """A Layer of which each process of the sep or context parallel group computes with a part of the
    sequence. The program cuts the sequence itself; gradients are summed over the group. With cp_degree
    attention is that over the whole sequence; with sep_degree the program exchanges heads for positions.

    Args:
        layers: Layer.
        hcg: HybridCommunicateGroup.
        strategy: accepted.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> _ = fleet.init(is_collective=True)
        >>> groups = fleet.get_hybrid_communicate_group()
        >>> net = fleet.meta_parallel.SegmentParallel(paddle.nn.Linear(2, 1), groups)
        >>> net(paddle.ones([3, 2])).shape
        paddle.Size([3, 1])
    """


class DeviceParallel(MetaParallelBase):
    """A Layer on all devices of this process. Parameters that no layer has cut are copied to the devices of
    the mesh; rows of what the Layer is called with are cut among data parallel devices. Results are those of
    one device.

    Args:
        layers: Layer.
        hcg: HybridCommunicateGroup.
        strategy: accepted.
    """

    def __init__(self, layers: Layer, hcg: Any, strategy: Any = None) -> None:
        super().__init__(layers, hcg, strategy)
        self._grid = Current.grid
        self._grid.replicate([*layers.parameters(), *layers.buffers()])

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Calls the Layer within, with rows cut among the devices."""
        with self._grid.attention():
            return self._layers(*self._grid.batch(inputs), **self._grid.batch(kwargs))

    def no_sync(self) -> Any:
        """A context that changes nothing: gradients are those of the whole batch at any time."""
        return contextlib.nullcontext()
