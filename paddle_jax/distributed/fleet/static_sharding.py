"""Updates of a static program that are shared by the processes of a group.

With `strategy.sharding` each process updates some Parameters and holds the states of these alone. Then all
processes get the new values of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tensors.held_values import computed_array, numpy_dtype
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax._program.composites import eager_mode
from paddle_jax._program.program import Program
from paddle_jax.distributed.collective import new_group
from paddle_jax.distributed.data_parallel import same_everywhere
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
        params = [param for param, _ in pairs]
        places = owners(params, self.group.nranks)
        found = {param.name: places[id(param)] for param in params}
        self.owner_of.update(found)
        return {name for name, place in found.items() if place == self.group.rank}

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

    def follow_parameters(self, before: dict[str, Any], values: dict[str, Any]) -> None:
        """Makes copies of Parameters in float32 anew, where the Parameters have got other values.

        Args:
            before: the values of the Parameters by name, before the first process gave them its own.
            values: the values of all Variables by name.
        """
        for name, old in before.items():
            master = f"{name}_fp32_master_0"
            new = to_numpy(values[name])
            if master in self.state_names and (new != old).any():
                values[master] = new.astype(numpy_dtype(wrap(to_array(values[master]))))


def _checked_degree(strategy: Any, count: int) -> int:
    """The number of processes that share updates; raises what `shares_of` says. count: all processes."""
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


def shares_of(strategy: Any, group: Any) -> UpdateShares | None:
    """The UpdateShares of a strategy; None without `sharding` or with a degree of 1. All processes call it.

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
        return UpdateShares(group)
    found = None
    # All processes make all groups, in the same order.
    for first in range(0, group.nranks, degree):
        ranks = [group.ranks[place] for place in range(first, first + degree)]
        made = new_group(ranks)
        if first <= group.rank < first + degree:
            found = made
    return UpdateShares(found)


__all__ = ["UpdateShares", "shares_of"]
