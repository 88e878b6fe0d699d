"""Updates of a static program that are shared by the processes of a group.

With `strategy.sharding` each process updates some Parameters and holds the states of these alone. Then all
processes get the new values of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tensors.held_values import computed_array
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax._program.composites import eager_mode
from paddle_jax._program.program import Program
from paddle_jax.distributed.data_parallel import same_everywhere
from paddle_jax.distributed.fleet.base.topology import own_group
from paddle_jax.distributed.sharding.optimizers import owners

_WHERE = "fleet.distributed_optimizer: strategy.sharding_configs"


class UpdateShares:
    """Which process of a group updates each Parameter of a program.

    Attributes:
        group: Group of the processes that share the updates.
        owner_of: dict from the name of each Parameter to the place of its process in the group.
        state_names: set of the names of the states that this process holds.
    """

    def __init__(self, group: Any) -> None:
        self.group = group
        self.owner_of: dict[str, int] = {}
        self.state_names: set[str] = set()

    def deal_out(self, pairs: Sequence[tuple[Any, Any]]) -> set[str]:
        """Deals out the Parameters of pairs of Parameter and gradient; returns the names of those that this
        process updates."""
        # A second loss may have some of the Parameters of the first one, whose states have a place already.
        new = [param for param, _ in pairs if param.name not in self.owner_of]
        places = owners(new, self.group.nranks)
        self.owner_of.update({param.name: places[id(param)] for param in new})
        return {param.name for param, _ in pairs if self.owner_of[param.name] == self.group.rank}

    def note_states(self, program: Program, before: set[str]) -> None:
        """Notes the states that the updates have added to a program. before: the names of its Variables."""
        for name in program.vars.keys() - before:
            if any(name.startswith(f"{param}_") for param in self.owner_of):
                self.state_names.add(name)

    def exchange(self, values: dict[str, Any], size: int) -> None:
        """Gives all processes the Parameters that each of them has updated.

        Args:
            values: the values of the Variables by name.
            size: bytes that travel together.
        """
        with eager_mode():
            for place in range(self.group.nranks):
                names = [name for name, owner in self.owner_of.items() if owner == place]
                tensors = [wrap(to_array(values[name])) for name in names]
                same_everywhere(tensors, self.group, size, place)
                if place != self.group.rank:
                    values.update(zip(names, map(computed_array, tensors), strict=True))

    def copied_values(self, values: dict[str, Any]) -> dict[str, Any]:
        """The values of the Parameters of which this process holds copies in float32, by their names."""
        return {
            name: to_numpy(to_array(values[name]))
            for name in self.owner_of
            if copy_name(name) in self.state_names
        }

    def update_copies(self, before: dict[str, Any], values: dict[str, Any]) -> None:
        """Makes the copies in float32 again of Parameters that have got other values.

        Args:
            before: what `copied_values` gave, before the first process gave all others its Parameters.
            values: the values of all Variables by name.
        """
        for name, value in self.copied_values(values).items():
            if (value != before[name]).any():
                values[copy_name(name)] = value.astype(np.float32)


def copy_name(param: str) -> str:
    """The name of the copy in float32 of a Parameter of low precision."""
    return f"{param}_fp32_master_0"


def _checked_degree(strategy: Any, count: int) -> int:
    """The number of processes that share updates; raises what `sharing_group` says. count: all processes."""
    configs = strategy.sharding_configs
    degree = configs["sharding_degree"]
    refused = [name for name in ("mp_degree", "pp_degree", "gradient_merge_acc_step") if configs[name] != 1]
    if refused:
        raise NotImplementedError(
            f"{_WHERE}: got {', '.join(f'{name} {configs[name]}' for name in refused)}; a static program of "
            "several processes takes 1; use strategy.gradient_merge, or hybrid_configs in dynamic mode"
        )
    if configs["stage"] not in (1, 2):
        raise NotImplementedError(
            f"{_WHERE}: stage {configs['stage']}: a static program of several processes takes 1 and 2; use "
            "paddle.distributed.sharding.group_sharded_parallel in dynamic mode"
        )
    if strategy.tensor_parallel:
        raise NotImplementedError(
            f"{_WHERE}: together with tensor_parallel in a static program; use hybrid_configs in dynamic mode"
        )
    copies = configs["dp_degree"]
    if configs["hybrid_dp"] and copies == 1:
        # the number of copies is left open
        copies = max(count // max(degree, 1), 1)
    if degree * copies != count:
        raise ValueError(
            f"{_WHERE}: sharding_degree {degree} x dp_degree {copies}; the product must be the number of "
            f"processes, {count}"
        )
    return degree


def sharing_group(strategy: Any, group: Any) -> Any:
    """The Group of the processes that share updates; None without `sharding` or with a degree of 1. All
    processes call it.

    Raises:
        ValueError: the degrees do not give the number of processes.
        NotImplementedError: the strategy asks for more than shared updates.
    """
    if not strategy.sharding:
        return None
    degree = _checked_degree(strategy, group.nranks)
    if degree == 1:
        return None
    if degree == group.nranks:
        return group
    return own_group([group.ranks[i : i + degree] for i in range(0, group.nranks, degree)])


__all__ = ["UpdateShares", "copy_name", "sharing_group"]
