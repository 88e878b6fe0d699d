"""Marks of Parameters that differ between processes. Layers of experts and programs set them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Parameter, Tensor
    from paddle_jax.distributed.communication.group import Group

# what programs write into the `color` of an expert
_COLOR = "moe_expert"


def _color(parameter: Tensor) -> dict[str, Any]:
    color = getattr(parameter, "color", None)
    if isinstance(color, dict) and color.get("color") == _COLOR:
        return color
    return {}


def is_expert(parameter: Tensor) -> bool:
    """Whether other processes have another Parameter, such as another expert, in place of this one."""
    if getattr(parameter, "no_sync", False) or getattr(parameter, "expert", False):
        return True
    return bool(_color(parameter))


def _gradient_group(parameter: Tensor, hcg: Any) -> Group | None:
    """The processes that have the same expert; None for no others."""
    group = _color(parameter).get("group")
    if group is not None:
        return group
    # A grid without experts has no such group.
    if getattr(parameter, "expert", False) and hcg.get_moe_sharding_parallel_world_size() > 0:
        return hcg.get_moe_sharding_parallel_group()
    return None


def expert_gradients(parameters: Sequence[Parameter], hcg: Any) -> list[tuple[Group, list[Tensor]]]:
    """The gradients of experts, by the groups over which they are averaged.

    Args:
        parameters: list of Parameters; those without a gradient are left out.
        hcg: HybridCommunicateGroup.
    """
    found: dict[int, tuple[Group, list[Tensor]]] = {}
    for parameter in parameters:
        if parameter._grad is None or not is_expert(parameter):
            continue
        group = _gradient_group(parameter, hcg)
        if group is not None and group.is_member():
            found.setdefault(group.id, (group, []))[1].append(parameter._grad)
    return list(found.values())
