"""Weights that several stages of a pipeline have a copy of, such as tied embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from paddle_jax._core.base.errors import CheckError
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.distributed.collective import new_group
from paddle_jax.distributed.communication.data_movement import broadcast
from paddle_jax.distributed.communication.reductions import all_reduce
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.layer_desc import SharedLayerDesc
from paddle_jax.tensor.creation import zeros_like

if TYPE_CHECKING:
    from paddle_jax.distributed.fleet.base.topology import CommunicateTopology
    from paddle_jax.nn.layer.layers import Layer


__all__ = []


class SharedWeights(NamedTuple):
    """The weights that this stage shares with others under one key.

    Attributes:
        layer: the copy of this stage.
        names: attributes of the layer that are shared.
        group: Group of the stages that have a copy.
    """

    layer: Any
    names: list[str]
    group: Any

    def parameters(self) -> list[Any]:
        """The shared Parameters of this stage."""
        return [getattr(self.layer, name) for name in self.names]

    @no_grad()
    def synchronize(self) -> None:
        """Gives all copies the values of the first stage that has one."""
        for parameter in self.parameters():
            broadcast(parameter, self.group.ranks[0], self.group)

    @no_grad()
    def sum_gradients(self) -> None:
        """Gives all copies the sum of their gradients; a copy that was not used counts as zeros."""
        for parameter in self.parameters():
            if parameter.grad is None:
                # All copies must take part in the exchange.
                parameter.grad = zeros_like(parameter)
            all_reduce(parameter.grad, group=self.group)


def places_of(layers: list[Any], stage_of: Callable[..., Any]) -> dict[str, tuple[list[int], list[str]]]:
    """{key: (stages that have a copy, names of the shared attributes)} of a list of layers.

    Raises:
        AssertionError: a later place shares an attribute that the first one does not.
    """
    found = {}
    for index, one in enumerate(layers):
        if not isinstance(one, SharedLayerDesc):
            continue
        stages, names = found.setdefault(one.layer_name, ([], one.shared_weight_attr))
        missing = set(one.shared_weight_attr) - set(names)
        if missing:
            raise CheckError(
                f"PipelineLayer: layers: {one.layer_name!r} shares {sorted(missing)} at place {index}, "
                f"and {names} at its first place; name all of them there"
            )
        if stage_of(index) not in stages:
            stages.append(stage_of(index))
    return {key: (sorted(stages), names) for key, (stages, names) in found.items()}


def shared_weights(
    layers: list[Any], stage_of: Callable[..., Any], topology: CommunicateTopology, rank: int, copies: Layer
) -> dict[str, SharedWeights]:
    """{key: SharedWeights} of this process; all processes of the pipeline must call it, as it makes groups.

    A copy that is not the first one is marked: `is_firstly_shared` False. A norm of all gradients counts
    the first one only.
    """
    found = {}
    for key, (stages, names) in places_of(layers, stage_of).items():
        if len(stages) < 2:
            continue
        for ranks in topology.get_comm_list("pipe"):
            members = [ranks[stage] for stage in stages]
            # All processes make the groups of all pipelines, in this order.
            group = new_group(members)
            if rank not in members:
                continue
            found[key] = SharedWeights(copies[key], names, group)
            for parameter in found[key].parameters():
                # A norm over the whole model counts the weight once.
                parameter.is_firstly_shared = rank == members[0]
    return found
