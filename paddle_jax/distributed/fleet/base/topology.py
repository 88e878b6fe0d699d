"""Processes in a grid, with a dimension for each kind of parallelism, and the groups along its dimensions."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.base import launch_variables
from paddle_jax._core.base.errors import CheckError
from paddle_jax.distributed.collective import new_group
from paddle_jax.distributed.parallel import ParallelMode, get_rank

if TYPE_CHECKING:
    from paddle_jax.distributed.communication.group import Group


__all__ = ["CommunicateTopology", "EPHybridCommunicateGroup", "HybridCommunicateGroup"]

NAMES = ["data", "pipe", "sharding", "sep", "context", "model"]
SHORT_NAMES = {
    "dp": "data",
    "pp": "pipe",
    "sharding": "sharding",
    "sep": "sep",
    "cp": "context",
    "mp": "model",
}

# dimensions whose common groups libraries ask for
_FUSED = (("data", "sep"), ("data", "sep", "context"), ("pipe", "model"))


class CommunicateTopology:
    """Numbers of processes in a grid; the last dimension counts fastest.

    Args:
        hybrid_group_names: list of str, the dimensions.
        dims: list of int, their lengths.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> grid = fleet.CommunicateTopology(["data", "model"], [2, 2])
        >>> grid.get_comm_list("model"), grid.get_coord(2)
        ([[0, 1], [2, 3]], Coordinate(data=1, model=0))
    """

    def __init__(self, hybrid_group_names: Any = NAMES, dims: Sequence[int] = (1, 1, 1, 1, 1, 1)) -> None:
        self._parallel_names, self._dims = list(hybrid_group_names), list(dims)
        self.coordinate = collections.namedtuple("Coordinate", self._parallel_names)
        self._grid = np.arange(int(np.prod(self._dims))).reshape(self._dims)

    def get_hybrid_group_names(self) -> list[Any]:
        """The dimensions."""
        return self._parallel_names

    def get_dim(self, axis_name: str) -> int:
        """The length of a dimension.

        Raises:
            ValueError: there is none of this name.
        """
        return self._dims[self._parallel_names.index(axis_name)]

    get_dim_size = get_dim

    def world_size(self) -> int:
        """The number of processes."""
        return self._grid.size

    def get_rank(self, **args: Any) -> int:
        """The number of the process at a place; args: a place for each dimension.

        Raises:
            AssertionError: a dimension is missing, or there is none of a name.
        """
        if len(args) != len(self._dims) or set(args) != set(self._parallel_names):
            raise CheckError(
                f"CommunicateTopology.get_rank: got places along {sorted(args)}; "
                f"give one for each of {self._parallel_names}"
            )
        return int(self._grid[tuple(args[name] for name in self._parallel_names)])

    def get_coord(self, rank: Any) -> Any:
        """The place of a process, a named tuple.

        Raises:
            AssertionError: there is no such process.
        """
        if not 0 <= rank < self.world_size():
            raise CheckError(
                f"CommunicateTopology.get_coord: rank: got {rank}; "
                f"there are {self.world_size()} processes, numbered from 0"
            )
        return self.coordinate(*(int(i) for i in np.unravel_index(rank, self._dims)))

    def get_axis_list(self, axis_name: Any, index: Any) -> Any:
        """The numbers of all processes at a place along a dimension."""
        at = self._parallel_names.index(axis_name)
        if 0 <= index < self._dims[at]:
            return np.take(self._grid, index, at).reshape(-1).tolist()
        return []

    def get_comm_list(self, axis_name: Any) -> list[list[int]]:
        """The groups along a dimension: lists of numbers of processes, each of which has all of them apart
        from this dimension in common.

        Raises:
            AssertionError: there is none of this name.
        """
        if axis_name not in self._parallel_names:
            raise CheckError(
                f"CommunicateTopology.get_comm_list: axis_name: got {axis_name!r}; "
                f"there are {self._parallel_names}"
            )
        return self.get_fused_ranks([axis_name])

    def get_fused_ranks(self, fused_axis: Sequence[str]) -> list[list[int]]:
        """The groups along several dimensions together."""
        fused = [name for name in self._parallel_names if name in fused_axis]
        others = [i for i, name in enumerate(self._parallel_names) if name not in fused_axis]
        # The dimensions of the group go last, so that each row is a group.
        order = others + [self._parallel_names.index(name) for name in fused]
        count = int(np.prod([self.get_dim(name) for name in fused]))
        return self._grid.transpose(order).reshape(-1, count).tolist()

    def get_rank_from_stage(self, global_rank: Any, **kwargs: Any) -> int:
        """The number of the process that differs from one in the places named."""
        return self.get_rank(**(self.get_coord(global_rank)._asdict() | kwargs))


def own_group(lists: Sequence[Sequence[int]]) -> Group:
    """Makes groups of lists of processes, and gives the one that has this process.

    All processes must call it, since each makes all groups, also those of others.
    """
    rank = get_rank()
    groups = [new_group(ranks) for ranks in lists]
    return next(group for group in groups if rank in group.ranks)


class HybridCommunicateGroup:
    """The groups along the dimensions of a grid of this program's processes. Nothing is sent to make them;
    all processes must make them.

    Args:
        topology: CommunicateTopology of all processes, with the dimensions that fleet uses ("data", "pipe",
            "sharding", "sep", "model").
        hybrid_configs: accepted.
    Attributes:
        _topo: CommunicateTopology.
        _degrees: CommunicateTopology, what `topology` gives.
        global_rank, nranks: int, which process this is, of how many.
        _sizes: dict from the names of the dimensions to their sizes.
        _place: dict from the names to this process's coordinates.
        _groups: dict from the names to the Group along each.
        _check: the groups of all processes with the same batch.
        _fused_groups: dict from pairs of names to the Group along both.
        stage_id: int, the stage of the pipeline.
        is_first_stage, is_last_stage: bool.
    Raises:
        AssertionError: the grid is not that of all processes.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> groups = fleet.HybridCommunicateGroup(fleet.CommunicateTopology())
        >>> groups.get_data_parallel_world_size(), groups.get_model_parallel_rank()
        (1, 0)
    """

    global_rank: int
    nranks: int

    def __init__(self, topology: CommunicateTopology, hybrid_configs: Any = None) -> None:
        self._topo, self.global_rank, self.nranks = topology, get_rank(), launch_variables.size()
        self._degrees = topology
        names = topology.get_hybrid_group_names()
        self._sizes = {name: topology.get_dim(name) for name in names}
        if topology.world_size() != self.nranks:
            found = ", ".join(f"{name} {size}" for name, size in self._sizes.items())
            raise CheckError(
                f"HybridCommunicateGroup: the degrees make up {topology.world_size()} processes "
                f"({found}), and there are {self.nranks}; "
                "their product must be that (dp_degree=-1 takes what the others leave)"
            )
        self._place = topology.get_coord(self.global_rank)._asdict()
        self._groups = {name: self._create_groups([name]) for name in names}
        # All but "data" divide one copy of the model.
        self._check = self._create_groups([name for name in names if name != "data"])
        self._fused_groups = {axes: self._fused(axes) for axes in _FUSED}
        self._set_short_names(SHORT_NAMES)
        self._set_stage()

    def _set_short_names(self, names: dict[str, str]) -> None:
        """Sets the names by which libraries read degrees and groups."""
        for short, axis in names.items():
            group = self._groups.get(axis)
            setattr(self, f"_{short}_degree", self._sizes.get(axis, 1))
            setattr(self, f"_{short}_comm_group", group)
            setattr(self, f"_{short}_group", None if group is None else group.ranks)

    def _set_stage(self) -> None:
        self.stage_id: Any = self._place.get("pipe", 0)
        self.is_first_stage: Any = self.stage_id == 0
        self.is_last_stage: Any = self.stage_id == self._sizes.get("pipe", 1) - 1

    def _create_groups(self, names: Sequence[str]) -> Group:
        return own_group(self._topo.get_fused_ranks(names))

    def _longer(self, short: str) -> Group:
        """The group along a dimension that is not there by default."""
        axis = SHORT_NAMES[short]
        if self._sizes.get(axis, 1) == 1:
            raise CheckError(f"HybridCommunicateGroup: {short} not exist: {short}_degree is 1")
        return self._groups[axis]

    def get_parallel_mode(self) -> int:
        """A number of ParallelMode: the innermost kind of parallelism whose degree is above 1,
        DATA_PARALLEL for none."""
        kinds = {
            "pipe": ParallelMode.PIPELINE_PARALLEL,
            "model": ParallelMode.TENSOR_PARALLEL,
            "sep": ParallelMode.SEGMENT_PARALLEL,
            "context": ParallelMode.SEGMENT_PARALLEL,
            "sharding": ParallelMode.SHARDING_PARALLEL,
        }
        # Data parallelism counts only where nothing else is asked for.
        if self._sizes.get("data", 1) > 1 and all(self._sizes.get(name, 1) == 1 for name in kinds):
            return ParallelMode.DATA_PARALLEL
        return next(
            (kind for name, kind in kinds.items() if self._sizes.get(name, 1) > 1), ParallelMode.DATA_PARALLEL
        )

    @classmethod
    def of_devices(cls, topology: Any) -> HybridCommunicateGroup:
        """The groups of a process that drives all devices of a grid: each has this process only, and
        `topology()` keeps the degrees.

        Args:
            topology: CommunicateTopology of the devices.
        """
        names = topology.get_hybrid_group_names()
        # For collectives there is one process; only the degrees are those of the devices.
        groups = cls(CommunicateTopology(names, [1] * len(names)))
        groups._degrees = topology
        return groups

    def topology(self) -> CommunicateTopology:
        """The CommunicateTopology: that of the processes, or of the devices of one process."""
        return self._degrees

    def get_global_rank(self) -> int:
        """The number of this process."""
        return self.global_rank

    def get_check_parallel_group(self, sharding: Any = False) -> Group:
        """The group of the processes that hold one copy of the model among them."""
        return self._check

    def get_sep_parallel_group(self) -> Group:
        """The group along "sep"; AssertionError where its length is 1."""
        return self._longer("sep")

    def get_sep_parallel_group_src_rank(self) -> Any:
        """The first process of that group."""
        return self._longer("sep").ranks[0]

    def get_context_parallel_group(self) -> Group:
        """The group along "context"; AssertionError where its length is 1."""
        return self._longer("cp")

    def get_context_parallel_group_src_rank(self) -> Any:
        """The first process of that group."""
        return self._longer("cp").ranks[0]

    def get_stage_id(self) -> int:
        """The place of this process along "pipe"."""
        return self._place["pipe"]

    def get_pipe_parallel_group(self) -> Group:
        """The group along "pipe"."""
        return self._groups["pipe"]

    def get_pipe_parallel_world_size(self) -> int:
        """Its length."""
        return self._sizes["pipe"]

    def get_p2p_groups(self) -> tuple[Group, Group, Group, Group] | None:
        """The groups of this stage with the next and the previous one, twice (for sending and receiving);
        None where there is one stage only."""
        if self._sizes.get("pipe", 1) == 1:
            return None
        group = self._groups["pipe"]
        # Messages here name their process, so one group serves all four ways.
        return group, group, group, group

    def get_dp_sep_parallel_group(self) -> Group | None:
        """The group along "data" and "sep" together."""
        return self._fused_groups["data", "sep"]

    def get_pp_mp_parallel_group(self) -> Group | None:
        """The group along "pipe" and "model" together."""
        return self._fused_groups["pipe", "model"]

    def _fused(self, axes: Sequence[str]) -> Group | None:
        """The group along several dimensions together; one that is there already where only one is longer."""
        longer = [name for name in axes if self._sizes.get(name, 1) > 1]
        if len(longer) > 1:
            return self._create_groups(longer)
        known = [name for name in axes if name in self._groups]
        # The group along the one longer dimension has the same processes.
        if known:
            return self._groups[(longer or known)[0]]
        return None

    def get_moe_sharding_parallel_world_size(self) -> int:
        """0: experts are not divided along dimensions of their own."""
        return 0

    def get_rank_from_stage(self, stage_id: Any, **kwargs: Any) -> Any:
        """The number of the process at another place along "pipe"."""
        return self._topo.get_rank_from_stage(self.global_rank, pipe=stage_id, **kwargs)

    def create_fuse_group(self, fused_strategy_list: Any) -> tuple[Any, Group]:
        """The group along several dimensions together.

        Args:
            fused_strategy_list: list of names of dimensions.
        Returns:
            list of the numbers of its processes, and the Group.
        """
        group = self._create_groups(fused_strategy_list)
        return group.ranks, group


def _along(name: str, axis: str) -> None:
    """The four questions about a dimension."""

    def group(self) -> Group:
        return self._groups[axis]

    def size(self) -> int:
        return self._sizes.get(axis, 1)

    def place(self) -> Any:
        return self._place.get(axis, 0)

    def first(self) -> Any:
        return self._groups[axis].ranks[0]

    made = {
        f"get_{name}_parallel_world_size": (size, f'The number of processes along "{axis}".'),
        f"get_{name}_parallel_rank": (place, f'The place of this process along "{axis}".'),
    }
    # These have methods of their own, which refuse a length of 1.
    if axis not in ("sep", "context"):
        made |= {
            f"get_{name}_parallel_group": (group, f'The group along "{axis}".'),
            f"get_{name}_parallel_group_src_rank": (first, "The first process of that group."),
        }
    for key, (function, text) in made.items():
        function.__name__, function.__qualname__, function.__doc__ = (
            key,
            f"HybridCommunicateGroup.{key}",
            text,
        )
        setattr(HybridCommunicateGroup, key, function)


# The methods of `pipe` are written out above, since some have other names.
for _names in (
    ("data", "data"),
    ("model", "model"),
    ("sharding", "sharding"),
    ("sep", "sep"),
    ("context", "context"),
):
    _along(*_names)


# The dimensions that experts share with the rest of the model; they lie outside of all others.
_SHARED_WITH_EXPERTS = ("moe_sharding", "pipe")
_EXPERT_SHORT_NAMES = SHORT_NAMES | {
    "ep": "expert",
    "moe_sharding": "moe_sharding",
    "cp_mp": "cp_mp",
    "cp_sharding": "cp_sharding",
}


class EPHybridCommunicateGroup(HybridCommunicateGroup):
    """The groups of a model with experts. Two grids have the same processes: one for the layers of the model,
    and one for its experts. Context parallelism cuts the group along "sharding".

    Args:
        hybrid_group_names: list of str, the dimensions, from outside to inside.
        dims: list of int, their lengths.
        hybrid_configs: accepted.
    Attributes:
        _moe_topo: CommunicateTopology of the experts.
        _dense_topo: CommunicateTopology of the layers, what `topology` gives.
        _sharding_check: Group for `get_check_parallel_group(True)`.
    Raises:
        AssertionError: the two grids have other numbers of processes, or a length does not divide another.
    Example:
        >>> from paddle_jax.distributed.fleet.base.topology import EPHybridCommunicateGroup
        >>> groups = EPHybridCommunicateGroup()
        >>> groups.get_expert_parallel_world_size(), groups.get_expert_parallel_rank()
        (1, 0)
    """

    def __init__(
        self,
        hybrid_group_names: Sequence[str] = (
            "pipe",
            "moe_sharding",
            "expert",
            "data",
            "sharding",
            "sep",
            "context",
            "model",
        ),
        dims: Sequence[int] = (1, 1, 1, 1, 1, 1, 1, 1),
        hybrid_configs: Any = None,
    ) -> None:
        self.global_rank = get_rank()
        self.nranks = launch_variables.size()
        sizes = dict(zip(hybrid_group_names, dims, strict=True))
        _check_expert_sizes(sizes, self.nranks)
        _check_expert_order(list(hybrid_group_names))
        outer = [name for name in hybrid_group_names if name in _SHARED_WITH_EXPERTS]
        expert_names = [*outer, "expert"]
        self._moe_topo = CommunicateTopology(expert_names, [sizes[name] for name in expert_names])
        inner = [name for name in hybrid_group_names if name in ("sep", "data", "model")]
        dense_sizes = sizes | {"dense_sharding": sizes["sharding"] // sizes["moe_sharding"]}
        dense_names = [*outer, "dense_sharding", *inner]
        self._dense_topo = CommunicateTopology(dense_names, [dense_sizes[name] for name in dense_names])
        self._topo = self._degrees = self._dense_topo
        self._create_all_groups(sizes)
        self._sizes = {name: len(group.ranks) for name, group in self._groups.items()}
        self._place = {name: group.ranks.index(self.global_rank) for name, group in self._groups.items()}
        self._set_short_names(_EXPERT_SHORT_NAMES)
        self._set_stage()

    def _create_all_groups(self, sizes: dict[str, int]) -> None:
        dense = self._dense_topo
        self._groups = {name: self._create_groups([name]) for name in ("pipe", "data", "sep", "model")}
        for name in ("expert", "moe_sharding"):
            self._groups[name] = own_group(self._moe_topo.get_fused_ranks([name]))
        sharding = dense.get_fused_ranks(["moe_sharding", "dense_sharding"])
        count = sizes.get("context", 1)
        # Neighbours along "sharding" share a sequence.
        context = [ranks[i : i + count] for ranks in sharding for i in range(0, len(ranks), count)]
        self._groups["sharding"] = own_group(sharding)
        self._groups["context"] = own_group(context)
        self._groups["cp_mp"] = own_group(_joined(context, dense.get_fused_ranks(["model"])))
        self._groups["cp_sharding"] = own_group([ranks[i::count] for ranks in sharding for i in range(count)])
        names = [name for name in dense.get_hybrid_group_names() if name != "data"]
        self._check = self._create_groups(names)
        self._sharding_check = self._create_groups([name for name in names if name != "moe_sharding"])
        self._fused_groups = {axes: self._fused(axes) for axes in _FUSED}

    def _fused(self, axes: Sequence[str]) -> Group | None:
        # "context" is no dimension of the grid, and "data" and "sep" have one process.
        return self._create_groups([name for name in axes if name != "context"])

    def get_parallel_mode(self) -> int:
        """A number of ParallelMode, as in HybridCommunicateGroup; "context" counts as "sharding"."""
        mode = super().get_parallel_mode()
        if mode == ParallelMode.SEGMENT_PARALLEL:
            return ParallelMode.SHARDING_PARALLEL
        return mode

    def get_check_parallel_group(self, sharding: Any = False) -> Group:
        """The group of the processes that hold one copy of the model among them; with `sharding` those of
        them that are at one place along "moe_sharding"."""
        return self._sharding_check if sharding else self._check

    def get_sharding_parallel_world_size(self, with_context_parallel: bool = False) -> int:
        """The number of processes along "sharding"; with context parallelism those with other data."""
        return self._sizes["cp_sharding" if with_context_parallel else "sharding"]

    def get_sharding_parallel_rank(self, with_context_parallel: bool = False) -> int:
        """The place of this process in that group."""
        return self._place["cp_sharding" if with_context_parallel else "sharding"]

    def get_moe_sharding_parallel_world_size(self) -> int:
        """The number of processes along "moe_sharding"."""
        return self._sizes["moe_sharding"]

    def get_moe_sharding_parallel_rank(self) -> int:
        """The place of this process along "moe_sharding"."""
        return self._place["moe_sharding"]

    def get_moe_sharding_parallel_group(self) -> Group:
        """The group along "moe_sharding": processes with the same experts."""
        return self._groups["moe_sharding"]

    def get_moe_sharding_parallel_group_src_rank(self) -> int:
        """The first process of that group."""
        return self._groups["moe_sharding"].ranks[0]

    def get_expert_parallel_world_size(self) -> int:
        """The number of processes along "expert"."""
        return self._sizes["expert"]

    def get_expert_parallel_rank(self) -> int:
        """The place of this process along "expert"."""
        return self._place["expert"]

    def get_expert_parallel_group(self) -> Group:
        """The group along "expert": processes that divide the experts among them."""
        return self._groups["expert"]

    def get_expert_parallel_group_src_rank(self) -> int:
        """The first process of that group."""
        return self._groups["expert"].ranks[0]

    def _along_context(self, name: str) -> Group:
        # Raises where nothing is cut along "context".
        self._longer("cp")
        return self._groups[name]

    def get_cp_mp_parallel_group(self) -> Group:
        """The group along "context" and "model" together."""
        return self._along_context("cp_mp")

    def get_cp_mp_parallel_group_src_rank(self) -> int:
        """The first process of that group."""
        return self._along_context("cp_mp").ranks[0]

    def get_cp_sharding_parallel_group(self) -> Group:
        """The processes along "sharding" that are at the same place of their sequences."""
        return self._along_context("cp_sharding")

    def get_cp_sharding_parallel_group_src_rank(self) -> int:
        """The first process of that group."""
        return self._along_context("cp_sharding").ranks[0]


def _joined(lists: list[list[int]], others: list[list[int]]) -> list[list[int]]:
    """Groups whose members have a common group in the second list, joined."""
    place_of = {rank: ranks for ranks in lists for rank in ranks}
    joined = {tuple(sorted({r for first in other for r in place_of[first]})) for other in others}
    return [list(ranks) for ranks in sorted(joined)]


def _check_expert_sizes(sizes: dict[str, int], count: int) -> None:
    """Refuses lengths of dimensions that do not fit each other, or the number of processes."""
    missing = [
        name
        for name in ("moe_sharding", "pipe", "expert", "sharding", "sep", "data", "model")
        if name not in sizes
    ]
    if missing:
        raise CheckError(f"EPHybridCommunicateGroup: hybrid_group_names: {missing} are missing; add them")
    if sizes["sep"] != 1 or sizes["data"] != 1:
        raise CheckError(
            f"EPHybridCommunicateGroup: sep_degree {sizes['sep']} and dp_degree {sizes['data']} must be 1; "
            "give their processes to sharding"
        )
    experts = sizes["moe_sharding"] * sizes["pipe"] * sizes["expert"]
    layers = sizes["sharding"] * sizes["pipe"] * sizes["model"]
    if not experts == layers == count:
        raise CheckError(
            f"EPHybridCommunicateGroup: got {layers} processes for layers (sharding, pipe, model), {experts} "
            f"for experts (moe_sharding, pipe, expert); both must be {count}, the number of processes"
        )
    for name in ("moe_sharding", "context"):
        if sizes["sharding"] % sizes.get(name, 1):
            raise CheckError(
                f"EPHybridCommunicateGroup: {name}: got {sizes[name]}; it must divide the length of "
                f"sharding, {sizes['sharding']}"
            )


def _check_expert_order(names: list[str]) -> None:
    """Refuses an order in which a stage of layers and a stage of experts are not the same processes."""
    if names.index("expert") < max(names.index(name) for name in _SHARED_WITH_EXPERTS):
        raise CheckError(
            f"EPHybridCommunicateGroup: hybrid_group_names: got {names}; expert must come after "
            "moe_sharding and pipe"
        )
