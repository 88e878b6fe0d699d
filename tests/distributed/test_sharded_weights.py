"""Parts of weights over the model parallel group of `fleet`, against the real Paddle."""

import importlib
import types

import pytest

import paddle_jax
from paddle_jax._core.process_group.registry import Groups
from paddle_jax.distributed.checkpoint import sharded_weight
from paddle_jax.distributed.fleet.base.registry import Current

GROUP = types.SimpleNamespace(rank=1, nranks=2)
RULES = {"a": 1}


def part_of(module):
    return importlib.import_module(f"{module.__name__}.distributed.flex_checkpoint.dcp.sharded_weight")


def use_group(module, monkeypatch):
    """Takes the place of `fleet.init` with a model parallel degree of 2."""
    if module is paddle_jax:
        monkeypatch.setattr(sharded_weight.CuttingGroup, "find", lambda: GROUP)
        return
    grid = types.SimpleNamespace(get_model_parallel_group=lambda: GROUP)
    monkeypatch.setattr(module.distributed.fleet, "get_hybrid_communicate_group", lambda: grid)


def places(weights):
    return [
        (key, one.key, tuple(one.local_shape), tuple(one.global_shape), tuple(one.global_offset))
        for key, one in weights.items()
    ]


def test_parts_of_the_model_parallel_group(oracle, monkeypatch):
    found = []
    for module in (paddle_jax, oracle):
        part = part_of(module)
        use_group(module, monkeypatch)
        state = {"a": module.ones([2, 3]), "b": module.ones([4])}
        weights = part.build_sharded_state_dict(state, RULES, "net.")
        weights["rows"] = part.make_tp_sharded_weight_for_checkpoint("rows", module.ones([2, 3]))
        weights["whole"] = part.make_replicated_sharded_weight("whole", module.ones([5]))
        weights["new"] = part.create_sharded_weight_with_new_local(
            "moment", module.zeros([2, 3]), weights["net.a"]
        )
        with pytest.raises(ValueError, match="shape"):
            part.create_sharded_weight_with_new_local("moment", module.zeros([3, 2]), weights["net.a"])
        found.append(places(weights))
    assert found[0] == found[1]
    assert found[0][0] == ("net.a", "net.a", (2, 3), (2, 6), (0, 3))


def test_fleet_names_the_group(monkeypatch):
    fleet = paddle_jax.distributed.fleet.fleet
    monkeypatch.setattr(sharded_weight.CuttingGroup, "find", None)
    # What `fleet.init` sets is put back for other tests.
    for name in ("hcg", "fleet", "grid", "servers"):
        monkeypatch.setattr(Current, name, getattr(Current, name))
    monkeypatch.setattr(Groups, "known", dict(Groups.known))
    fleet.init(is_collective=True)
    assert sharded_weight.CuttingGroup.find() is Current.hcg.get_model_parallel_group()
