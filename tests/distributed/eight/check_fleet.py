"""fleet in one process that drives eight devices: losses are those of one device."""

import functools as ft

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.distributed import fleet
from paddle_jax.distributed.fleet.utils import sequence_parallel_utils as sequences
from tests.distributed import gpt
from tests.distributed.eight.model import bytes_per_device

SPLITS = [
    ({"dp": 8}, 4),
    ({"sharding": 4, "dp": 2}, 4),
    ({"dp": 2, "mp": 2, "sharding": 2}, 5),
]


@ft.cache
def alone():
    return gpt.train({})[0]


@pytest.mark.parametrize(("degrees", "steps"), SPLITS, ids=str)
def test_losses_are_those_of_one_device(degrees, steps):
    losses, net, optimizer = gpt.train(degrees, steps)
    np.testing.assert_allclose(losses, alone()[:steps], rtol=1e-5)
    weight = net.blocks[0].qkv.weight
    assert weight.shape == [16, 48] and weight.is_dist()
    held = bytes_per_device([weight])
    assert set(held.values()) == {16 * 48 * 4 // degrees.get("mp", 1)}
    states = [value for name, value in optimizer.state_dict().items() if "moment" in name]
    whole = sum(2 * parameter.size * 4 for parameter in net.parameters())
    most = max(bytes_per_device(states).values())
    assert most < whole / (degrees.get("mp", 1) * degrees.get("sharding", 1)) * 1.4


def test_batches_may_change_and_need_not_divide():
    rows = lambda step: (8, 6, 5)[step]  # noqa: E731
    wanted = gpt.train({}, 3, rows)[0]
    np.testing.assert_allclose(gpt.train({"dp": 4, "mp": 2}, 3, rows)[0], wanted, rtol=1e-5)


def test_groups_have_this_process_only():
    gpt.start({"dp": 2, "mp": 2, "sharding": 2})
    hcg = fleet.get_hybrid_communicate_group()
    for name in ("data", "model", "sharding", "sep"):
        assert getattr(hcg, f"get_{name}_parallel_world_size")() == 1
        assert getattr(hcg, f"get_{name}_parallel_rank")() == 0
    assert hcg.topology().get_dim("model") == 2 and hcg.topology().world_size() == 8
    assert (fleet.worker_num(), paddle.distributed.get_world_size(), paddle.distributed.get_rank()) == (
        1,
        1,
        0,
    )
    x, found, objects = paddle.to_tensor([1.0, 2.0]), [], []
    group = hcg.get_model_parallel_group()
    paddle.distributed.all_reduce(x)
    paddle.distributed.broadcast(x, 0, group)
    paddle.distributed.all_gather(found, x, group)
    paddle.distributed.all_gather_object(objects, {"a": 1})
    out = paddle.zeros([2])
    paddle.distributed.reduce_scatter(out, [x])
    sent = paddle.zeros([2])
    paddle.distributed.alltoall_single(sent, x)
    paddle.distributed.barrier()
    assert [x.tolist(), found[0].tolist(), out.tolist(), sent.tolist()] == [[1.0, 2.0]] * 4
    assert objects == [{"a": 1}]


def test_too_few_devices():
    with pytest.raises(ValueError, match=r"16 devices \(dp_degree 4, mp_degree 4\), .* sees 8; .*XLA_FLAGS"):
        gpt.start({"dp": 4, "mp": 4})


def test_minus_one_takes_what_is_left():
    gpt.start({"dp": -1, "mp": 2})
    assert fleet.get_hybrid_communicate_group().topology().get_dim("data") == 4


def test_sequence_parallel_layers_lie_in_parts():
    gpt.start({"mp": 4})
    column = sequences.ColumnSequenceParallelLinear(6, 8, has_bias=True, gather_output=False)
    row = sequences.RowSequenceParallelLinear(8, 6, input_is_parallel=True)
    model = fleet.distributed_model(paddle.nn.Sequential(column, row))
    x = paddle.to_tensor(np.random.RandomState(0).randn(4, 3, 6).astype("float32"), stop_gradient=False)
    part = sequences.ScatterOp.apply(fleet.distributed_model(paddle.nn.Identity())(x))
    assert part.placements[-1] == paddle.distributed.Shard(0)
    out = sequences.GatherOp.apply(model(part))
    out.square().sum().backward()
    first, second = column.weight.numpy(), row.weight.numpy()
    hidden = x.numpy() @ first + column.bias.numpy()
    wanted = hidden @ second + row.bias.numpy()
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), 2 * wanted @ second.T @ first.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(row.bias.grad.numpy(), (2 * wanted).sum((0, 1)), rtol=1e-4, atol=1e-5)


def test_other_kinds_of_layers():
    """A convolution with batch statistics, from which nothing is cut but the batch."""
    found = []
    for degrees in ({}, {"dp": 4, "sharding": 2}):
        gpt.start(degrees)
        paddle.seed(4)
        net = paddle.nn.Sequential(
            paddle.nn.Conv2D(1, 2, 3), paddle.nn.BatchNorm2D(2), paddle.nn.Flatten(), paddle.nn.Linear(32, 3)
        )
        optimizer = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
        model, optimizer = fleet.distributed_model(net), fleet.distributed_optimizer(optimizer)
        for _ in range(3):
            images = paddle.to_tensor(np.random.RandomState(1).randn(8, 1, 6, 6).astype("float32"))
            model(images).square().mean().backward()
            optimizer.step()
            optimizer.clear_grad()
        found.append({name: value.numpy() for name, value in net.state_dict().items()})
    for name, value in found[0].items():
        np.testing.assert_allclose(found[1][name], value, rtol=1e-4, atol=1e-6)
