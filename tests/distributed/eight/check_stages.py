"""Models that `parallelize` cuts into stages, in loops, by `to_static` and by an Engine."""

import functools as ft

import numpy as np
import pytest

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax.distributed import SplitPoint
from tests.distributed.eight.model import VOCABULARY, Transformer, tokens

MESH = dist.ProcessMesh(np.arange(8).reshape(2, 2, 2), ["dp", "pp", "mp"])
PLAN = {
    "blocks.*.qkv": dist.ColWiseParallel(),
    "blocks.*.out": dist.RowWiseParallel(),
    "blocks.*.up": dist.ColWiseParallel(),
    "blocks.*.down": dist.RowWiseParallel(),
}
FIRST, LAST = MESH.get_mesh_with_dim("pp", 0), MESH.get_mesh_with_dim("pp", 1)


class Tied(Transformer):
    """The head has the weight of the embedding."""

    def __init__(self, blocks, dropout):
        super().__init__(blocks, dropout)
        self.head = Head(self.embedding.weight)


class Head(paddle.nn.Layer):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, x):
        return paddle.matmul(x, self.weight, transpose_y=True)


def make(split_spec=None, kind=Transformer, level=0, blocks=2, **more):
    paddle.seed(3)
    net = kind(blocks, 0.0)
    clip = paddle.nn.ClipGradByGlobalNorm(0.5)
    optimizer = paddle.optimizer.AdamW(0.01, parameters=net.parameters(), grad_clip=clip)
    if split_spec is None:
        return net, optimizer
    config = {
        "mp_config": {"parallelize_plan": PLAN},
        "pp_config": {"split_spec": split_spec, **more},
        "dp_config": {"sharding_level": level},
    }
    return dist.parallelize(net, optimizer, MESH, config)


def loss_of(logits, labels):
    return paddle.nn.functional.cross_entropy(logits.reshape([-1, VOCABULARY]), labels.reshape([-1]))


def loop(net, optimizer, steps=4):
    losses = []
    for batch in tokens(steps):
        batch = paddle.to_tensor(batch)
        loss = loss_of(net(batch[:, :-1]), batch[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    return losses


@ft.cache
def alone(kind=Transformer, blocks=2):
    return loop(*make(kind=kind, blocks=blocks))


@pytest.mark.parametrize(
    "split_spec", ["blocks", {"blocks.0": SplitPoint.END}, {"blocks.1": SplitPoint.BEGINNING}]
)
def test_a_loop_over_stages_trains_as_on_one_device(split_spec):
    net, optimizer = make(split_spec, level=1)
    assert net.blocks[0].qkv.weight.process_mesh == FIRST and net.blocks[1].qkv.weight.process_mesh == LAST
    assert net.blocks[1].qkv.weight.placements == [dist.Replicate(), dist.Shard(1)]
    assert net.embedding.pipeline_stage_index == 0 and net.head.pipeline_stage_index == 1
    steps = 4 if split_spec == "blocks" else 2
    np.testing.assert_allclose(loop(net, optimizer, steps), alone()[:steps], rtol=1e-5)


def test_a_weight_of_two_stages_is_one():
    net, optimizer = make("blocks", Tied, global_spec="embedding")
    assert net.head.weight is net.embedding.weight and net.head.weight.process_mesh == FIRST
    np.testing.assert_allclose(loop(net, optimizer, 4), alone(Tied)[:4], rtol=1e-5)
    assert net(paddle.to_tensor(tokens(1)[0][:, :-1])).process_mesh == LAST


def test_more_parts_than_stages_are_dealt_out():
    cuts = {f"blocks.{i}": SplitPoint.END for i in range(3)}
    net, _ = make(cuts, blocks=4)
    assert [net.blocks[i].pipeline_stage_index for i in range(4)] == [0, 1, 0, 1]
    strategy = dist.Strategy({"pipeline": {"enable": True, "vpp_degree": 3}})
    with pytest.raises(ValueError, match="vpp_degree: got 3; the model has 4 parts on 2 stages"):
        dist.to_static(net, None, loss_of, None, strategy)


@pytest.mark.parametrize(
    ("settings", "split_spec", "blocks"),
    [
        ({"schedule_mode": "1F1B", "accumulate_steps": 4, "pp_degree": 2}, "blocks", 2),
        ({"schedule_mode": "FThenB", "micro_batch_size": 4}, "blocks", 2),
        (
            {"schedule_mode": "VPP", "accumulate_steps": 2, "vpp_degree": 2},
            {f"blocks.{i}": SplitPoint.END for i in range(3)},
            4,
        ),
    ],
)
def test_to_static_runs_micro_batches(settings, split_spec, blocks):
    net, optimizer = make(split_spec, blocks=blocks)
    strategy = dist.Strategy({"pipeline": {"enable": True, **settings}})
    model = dist.to_static(net, None, loss_of, optimizer, strategy)
    model.train()
    batches = tokens(4)
    losses = [
        model(paddle.to_tensor(batch[:, :-1]), paddle.to_tensor(batch[:, 1:])).item() for batch in batches
    ]
    np.testing.assert_allclose(losses, alone(blocks=blocks), rtol=1e-5)
    model.eval()
    logits = paddle.to_tensor(net(paddle.to_tensor(batches[0][:, :-1])).numpy())
    wanted = loss_of(logits, paddle.to_tensor(batches[0][:, 1:]))
    found = model(paddle.to_tensor(batches[0][:, :-1]), paddle.to_tensor(batches[0][:, 1:]))
    np.testing.assert_allclose(found, wanted.item(), rtol=1e-5)


def test_an_engine_runs_micro_batches():
    class Data(paddle.io.Dataset):
        def __len__(self):
            return 32

        def __getitem__(self, index):
            row = tokens(4).reshape([32, -1])[index]
            return row[:-1], row[1:]

    net, optimizer = make("blocks")
    strategy = dist.Strategy({"pipeline": {"enable": True, "accumulate_steps": 4}})
    engine = dist.auto_parallel.Engine(net, loss_of, optimizer, strategy=strategy)
    losses = engine.fit(Data(), batch_size=8, epochs=1, verbose=0).history["loss"]
    np.testing.assert_allclose(losses, [np.mean(alone())], rtol=1e-5)


def test_what_is_refused():
    with pytest.raises(AssertionError, match="there is no layer 'zz'"):
        make({"zz": SplitPoint.END})
    with pytest.raises(AssertionError, match="2 places to cut; 2 stages"):
        make({"blocks.0": SplitPoint.END, "blocks.1": SplitPoint.END}, blocks=4)
    with pytest.raises(AssertionError, match="no layer behind 'head'"):
        make({"head": SplitPoint.END})
    with pytest.raises(AssertionError, match="0 layers match 'layers'"):
        make("layers")
    with pytest.raises(AssertionError, match="it must be a SplitPoint"):
        make({"blocks.0": 1})
    mesh = dist.ProcessMesh(np.arange(8), ["dp"])
    with pytest.raises(AssertionError, match="needs one named 'pp'"):
        dist.parallelize(Transformer(2, 0.0), None, mesh, {"pp_config": {"split_spec": "blocks"}})
    net, optimizer = make("blocks")
    for settings, text in (({"schedule_mode": "zigzag"}, "'zigzag'"), ({"pp_degree": 4}, "lies on 2 stages")):
        with pytest.raises(ValueError, match=text):
            dist.to_static(
                net, None, loss_of, optimizer, dist.Strategy({"pipeline": {"enable": True, **settings}})
            )
    model = dist.to_static(
        net, None, loss_of, optimizer, dist.Strategy({"pipeline": {"enable": True, "accumulate_steps": 3}})
    )
    model.train()
    with pytest.raises(ValueError, match="8 rows; accumulate_steps 3"):
        model(paddle.zeros([8, 8], "int64"), paddle.zeros([8, 8], "int64"))
