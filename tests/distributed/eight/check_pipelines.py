"""Pipelines of fleet in one process that drives eight devices: losses are those of one device."""

import functools as ft
from typing import NamedTuple

import jax
import numpy as np
import pytest

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax._core.execution.trace import trace
from paddle_jax.distributed.fleet.base.device_grid import DeviceGrid
from paddle_jax.distributed.fleet.base.topology import CommunicateTopology
from paddle_jax.distributed.fleet.meta_parallel import PipelineParallel
from paddle_jax.distributed.fleet.meta_parallel.split_backward import SplitBackward
from tests.distributed import gpt

CASES = [
    ({"dp": 2, "mp": 2, "pp": 2}, {"steps": 5}),
    ({"pp": 4}, {"blocks": 4}),
    ({"pp": 2}, {"blocks": 4, "num_virtual_pipeline_stages": 2}),
    ({"pp": 2, "sharding": 2}, {"mode": "FThenB"}),
    ({"pp": 2, "mp": 2}, {"mode": "ZBH1"}),
]


@ft.cache
def alone(blocks=2):
    return gpt.train_pipeline({}, blocks=blocks, micro=2)[0]


@pytest.mark.parametrize(("degrees", "settings"), CASES, ids=str)
def test_losses_are_those_of_one_device(degrees, settings):
    settings = {"steps": 3, "blocks": 2, "micro": 2} | settings
    losses, net, _ = gpt.train_pipeline(degrees, **settings)
    np.testing.assert_allclose(losses, alone(settings["blocks"])[: len(losses)], rtol=1e-5)
    meshes = [set(parameter.process_mesh.process_ids) for parameter in net.parameters()]
    stages = {frozenset(ids) for ids in meshes}
    assert len(stages) == degrees["pp"] and not frozenset.intersection(*stages)


class Sent(NamedTuple):
    """What a stage gives to the next one."""

    hidden: paddle.Tensor
    rest: list


def test_a_named_tuple_goes_to_the_next_stage():
    topology = CommunicateTopology(["data", "pipe", "sharding", "sep", "model"], [1, 2, 1, 1, 1])
    moved = DeviceGrid(topology).leaves(Sent(paddle.ones([2]), [paddle.zeros([3]), "x"]), 1)
    assert type(moved) is Sent and type(moved.rest) is list and moved.rest[1] == "x"
    for tensor, values in ((moved.hidden, [1, 1]), (moved.rest[0], [0, 0, 0])):
        assert tensor.tolist() == values and tensor.process_mesh.process_ids == [1]


def test_what_a_stage_has():
    strategy = gpt.start({"dp": 2, "mp": 2, "pp": 2}, accumulate_steps=2, micro_batch_size=2)
    net, model = gpt.pipeline(strategy, 2)
    assert isinstance(model, PipelineParallel) and len(net.run_function) == 5
    first, last = net.run_function[1].qkv.weight, net.run_function[2].qkv.weight
    assert first.process_mesh.dim_names == ["dp", "mp"] and first.placements[1] == dist.Shard(1)
    assert first.process_mesh.process_ids == [0, 1, 4, 5] and last.process_mesh.process_ids == [2, 3, 6, 7]
    assert model.get_static_scheduler() == "f0;f1;b0;b1;\nf0;b0;f1;b1;"
    with pytest.raises(AssertionError, match="batch of 4; pipeline_configs make it 2 micro-batches"):
        batch = paddle.to_tensor(gpt.tokens(0, 4))
        model.forward_backward_pipeline([batch[:, :-1], batch[:, 1:]])
    batch = paddle.to_tensor(gpt.tokens(0))
    data = [batch[:, :-1], batch[:, 1:]]
    outputs = model.eval_batch(data)
    assert [output.shape for output in outputs] == [[4, 8, 32]] * 2
    whole = net(batch[:, :-1])
    np.testing.assert_allclose(whole.numpy()[:4], outputs[0].numpy(), rtol=1e-5, atol=1e-6)
    loss = model.eval_batch(data, compute_loss=True)
    each = model.forward_backward_pipeline(data, return_micro_batch_loss=True)
    np.testing.assert_allclose(each.sum().item(), loss.item(), rtol=1e-5)
    assert loss.shape == [] and not loss.is_dist()


def test_refused_schedules():
    settings = {"num_virtual_pipeline_stages": 2}
    with pytest.raises(AssertionError, match="2 micro-batches at least"):
        gpt.pipeline(gpt.start({"pp": 2}, accumulate_steps=1), **settings)
    with pytest.raises(AssertionError, match="'ZBH1' with 2 chunks a stage"):
        gpt.pipeline(gpt.start({"pp": 2}, accumulate_steps=4, schedule_mode="ZBH1"), **settings)
    with pytest.raises(AssertionError, match="schedule_mode: got 'zigzag'"):
        gpt.pipeline(gpt.start({"pp": 2}, schedule_mode="zigzag"))


def test_the_backward_pass_is_cut_in_two():
    """The gradients of inputs need no product that gives a weight's gradient, and the sums are the same."""
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.GELU(), paddle.nn.Linear(8, 3))
    x = paddle.to_tensor(np.random.RandomState(0).randn(5, 4).astype("float32"), stop_gradient=False)
    net(x).sum().backward()
    traced = trace(net, [jax.ShapeDtypeStruct((5, 4), np.float32)])
    taken = [tensor.numpy() for tensor in traced.taken]
    split = SplitBackward(traced.fn, [0], range(1, 1 + len(taken)), [0])
    (result,), residuals = split.forward([x.numpy(), *taken])
    np.testing.assert_allclose(result, net(x).numpy(), rtol=1e-6)
    (gradient,), kept = split.of_inputs(residuals, [np.ones((5, 3), np.float32)])
    np.testing.assert_allclose(gradient, x.grad.numpy(), rtol=1e-5, atol=1e-7)
    wanted = sorted((p.grad.numpy() for p in net.parameters()), key=lambda g: (g.shape, g.sum()))
    found = sorted(map(np.asarray, split.of_weights(kept)), key=lambda g: (g.shape, g.sum()))
    assert len(found) == len(wanted) == 4
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
    assert min(split.equations) > 1
