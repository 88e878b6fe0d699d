"""Groups of models with experts; the expected ones are those of the real Paddle."""

from types import SimpleNamespace

import pytest

from paddle_jax.distributed.fleet.base import topology
from paddle_jax.distributed.fleet.base.topology import EPHybridCommunicateGroup, HybridCommunicateGroup

NAMES = ["moe_sharding", "sharding", "pipe", "sep", "data", "expert", "context", "model"]
ORDERS = {
    "sharding outside": NAMES,
    "stages outside": ["pipe", "moe_sharding", "expert", "data", "sharding", "sep", "context", "model"],
}
GROUPS = ["pipe", "expert", "moe_sharding", "model", "sharding", "context", "cp_mp", "cp_sharding"]
# order, lengths of NAMES, number of processes, process, its GROUPS, its groups for checks, its places
CASES = [
    (
        "sharding outside",
        (2, 4, 2, 1, 1, 4, 2, 2),
        16,
        5,
        [[1, 5], [4, 5, 6, 7], [5, 13], [4, 5], [5, 7, 13, 15], [5, 7], [4, 5, 6, 7], [5, 13]],
        [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [0, 1, 2, 3, 4, 5, 6, 7]],
        [1, 0, 0, 0, 1, 0, 2, 1, 2],
    ),
    (
        "sharding outside",
        (1, 4, 1, 1, 1, 4, 4, 1),
        4,
        3,
        [[3], [0, 1, 2, 3], [3], [3], [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [3]],
        [[0, 1, 2, 3], [0, 1, 2, 3]],
        [3, 0, 3, 3, 0, 0, 1, 0, 3],
    ),
    (
        "sharding outside",
        (2, 4, 1, 1, 1, 2, 2, 1),
        4,
        2,
        [[2], [2, 3], [0, 2], [2], [0, 1, 2, 3], [2, 3], [2, 3], [0, 2]],
        [[0, 1, 2, 3], [2, 3]],
        [0, 1, 2, 0, 0, 1, 2, 0, 3],
    ),
    (
        "sharding outside",
        (1, 4, 2, 1, 1, 4, 2, 1),
        8,
        6,
        [[2, 6], [4, 5, 6, 7], [6], [6], [4, 5, 6, 7], [6, 7], [6, 7], [4, 6]],
        [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]],
        [2, 0, 2, 0, 0, 1, 2, 1, 2],
    ),
    # By formula: here Paddle has processes of two stages, 5, 7, 9 and 11, in one group along "sharding".
    (
        "stages outside",
        (2, 4, 2, 1, 1, 4, 2, 2),
        16,
        5,
        [[5, 13], [4, 5, 6, 7], [1, 5], [4, 5], [1, 3, 5, 7], [5, 7], [4, 5, 6, 7], [1, 5]],
        [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [4, 5, 6, 7, 12, 13, 14, 15]],
        [1, 1, 2, 0, 1, 1, 2, 0, 2],
    ),
    (
        "stages outside",
        (1, 4, 1, 1, 1, 4, 4, 1),
        4,
        3,
        [[3], [0, 1, 2, 3], [3], [3], [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [3]],
        [[0, 1, 2, 3], [0, 1, 2, 3]],
        [3, 0, 3, 3, 0, 0, 1, 0, 3],
    ),
    (
        "stages outside",
        (2, 4, 1, 1, 1, 2, 2, 1),
        4,
        2,
        [[2], [2, 3], [0, 2], [2], [0, 1, 2, 3], [2, 3], [2, 3], [0, 2]],
        [[0, 1, 2, 3], [2, 3]],
        [0, 1, 2, 0, 0, 1, 2, 0, 3],
    ),
    (
        "stages outside",
        (1, 4, 2, 1, 1, 4, 2, 1),
        8,
        6,
        [[2, 6], [4, 5, 6, 7], [6], [6], [4, 5, 6, 7], [6, 7], [6, 7], [4, 6]],
        [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]],
        [2, 0, 2, 0, 0, 1, 2, 1, 2],
    ),
]


@pytest.fixture
def made(monkeypatch):
    """A function that gives the groups of one of several processes, and starts none."""

    def groups_of(lengths, count, rank, order="sharding outside"):
        sizes = dict(zip(NAMES, lengths, strict=True))
        monkeypatch.setattr(topology, "get_rank", lambda: rank)
        monkeypatch.setattr(topology.launch_variables, "size", lambda: count)
        monkeypatch.setattr(topology, "new_group", lambda ranks: SimpleNamespace(ranks=list(ranks)))
        names = ORDERS[order]
        return EPHybridCommunicateGroup(names, [sizes[name] for name in names])

    return groups_of


@pytest.mark.parametrize(("order", "lengths", "count", "rank", "groups", "checks", "places"), CASES)
def test_groups_are_those_of_paddle(made, order, lengths, count, rank, groups, checks, places):
    found = made(lengths, count, rank, order)
    assert [getattr(found, f"get_{name}_parallel_group")().ranks for name in GROUPS] == groups
    firsts = [getattr(found, f"get_{name}_parallel_group_src_rank")() for name in GROUPS if name != "pipe"]
    assert firsts == [ranks[0] for ranks in groups[1:]]
    assert [found.get_check_parallel_group(sharding).ranks for sharding in (False, True)] == checks
    assert places == [
        found.get_expert_parallel_rank(),
        found.get_moe_sharding_parallel_rank(),
        found.get_sharding_parallel_rank(),
        found.get_context_parallel_rank(),
        found.get_model_parallel_rank(),
        found.get_sharding_parallel_rank(with_context_parallel=True),
        found.get_sharding_parallel_world_size(with_context_parallel=True),
        found.get_stage_id(),
        found.get_parallel_mode(),
    ]
    sizes = dict(zip(NAMES, lengths, strict=True))
    assert found.get_expert_parallel_world_size() == sizes["expert"]
    assert found.get_moe_sharding_parallel_world_size() == sizes["moe_sharding"]
    assert found.get_sharding_parallel_world_size() == sizes["sharding"]
    assert found.get_context_parallel_world_size() == sizes["context"]


def test_other_stages_and_groups_of_several_dimensions(made):
    found = made([2, 4, 2, 1, 1, 4, 2, 2], 16, 5)
    assert [found.get_rank_from_stage(stage) for stage in (0, 1)] == [1, 5]
    assert found.create_fuse_group(["dense_sharding", "model"])[0] == [4, 5, 6, 7]
    assert found.create_fuse_group(["pipe", "model"])[0] == [0, 1, 4, 5]
    assert found.topology().get_hybrid_group_names()[:3] == ["moe_sharding", "pipe", "dense_sharding"]


@pytest.mark.parametrize(
    ("lengths", "count", "message"),
    [
        ([1, 4, 1, 1, 1, 2, 1, 1], 4, "got 4 processes for layers"),
        ([1, 1, 1, 1, 2, 2, 1, 1], 2, "sep_degree 1 and dp_degree 2 must be 1"),
        ([1, 4, 1, 1, 1, 4, 3, 1], 4, "context: got 3; it must divide the length of sharding, 4"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(made, lengths, count, message):
    with pytest.raises(AssertionError, match=message):
        made(lengths, count, 0)


def test_groups_of_context_need_its_degree(made):
    found = made([1, 4, 1, 1, 1, 4, 1, 1], 4, 1)
    with pytest.raises(AssertionError, match="cp not exist"):
        found.get_cp_mp_parallel_group()
    assert found.get_sharding_parallel_world_size(with_context_parallel=True) == 4


def test_a_grid_without_experts():
    """Libraries recognize grids with experts by this number, which is the real Paddle's."""
    groups = HybridCommunicateGroup(topology.CommunicateTopology())
    assert groups.get_moe_sharding_parallel_world_size() == 0
