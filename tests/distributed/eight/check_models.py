"""Whole models on a mesh of eight devices: `parallelize` and its plans, `dist.to_static`, against the same
model on one device."""

import numpy as np
import pytest

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax.distributed import Replicate, Shard, shard_tensor
from paddle_jax.distributed.auto_parallel.intermediate import parallelize
from tests.distributed.eight.model import LENGTH, MESH, VOCABULARY, Transformer, tokens, train

PLAN = {
    "embedding": dist.RowWiseParallel(),
    "blocks.*.qkv": dist.ColWiseParallel(),
    "blocks.*.out": dist.RowWiseParallel(),
    "head": dist.ColWiseParallel(True),
    r"blocks\.\d+\.up": dist.ColWiseParallel(),
    "blocks.*.down": [dist.RowWiseParallel()],
}


def fresh():
    paddle.seed(3)
    net = Transformer(1, 0.0)
    return net, paddle.optimizer.AdamW(
        0.01, parameters=net.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)
    )


@pytest.fixture(scope="module")
def want():
    return train(*fresh(), steps=4)


@pytest.mark.parametrize("level", [0, 1, 3])
def test_parallelize(want, level):
    net, optimizer = dist.parallelize(
        *fresh(), MESH, {"mp_config": {"parallelize_plan": PLAN}, "dp_config": {"sharding_level": level}}
    )
    first = [Shard(0)] if level == 3 else [Replicate()]
    assert net.blocks[0].up.weight.placements == [*first, Shard(1)]
    assert (
        net.embedding.weight.placements[1] == Shard(0)
        and net.blocks[0].down.bias.placements[1] == Replicate()
    )
    assert all(p.is_dist() for p in net.parameters())
    assert np.allclose(train(net, optimizer, MESH, steps=4), want, rtol=1e-5)
    found = optimizer.state_dict()[f"{net.head.weight.name}_moment1_0"].placements
    assert found == [Shard(0) if level else Replicate(), Shard(1)]


@pytest.mark.parametrize("level", [0, 1])
def test_the_model_first_and_the_optimizer_later(want, level):
    config = {"mp_config": {"parallelize_plan": PLAN}, "dp_config": {"sharding_level": level}}
    net, early = fresh()
    with pytest.raises(AssertionError):
        parallelize.parallelize_optimizer(early, MESH, config)
    try:
        net = parallelize.parallelize_model(net, MESH, config)
        optimizer = parallelize.parallelize_optimizer(  # on the mesh of the model
            paddle.optimizer.AdamW(
                0.01, parameters=net.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(0.5)
            ),
            None,
            config,
        )
    finally:
        dist.set_mesh(None)
    assert np.allclose(train(net, optimizer, MESH, steps=4), want, rtol=1e-5)
    found = optimizer.state_dict()[f"{net.head.weight.name}_moment1_0"].placements
    assert found == [Shard(0) if level else Replicate(), Shard(1)]


def test_sequence_parallel_plans(want):
    plan = PLAN | {
        "embedding": [dist.RowWiseParallel(), dist.SequenceParallelBegin(False)],
        "norm": dist.SequenceParallelEnd(False),
    }
    plan |= {r"blocks\.\d+\.qkv": [dist.ColWiseParallel(), dist.SequenceParallelDisable(False)]}
    net, optimizer = dist.parallelize(*fresh(), MESH, {"mp_config": {"parallelize_plan": plan}})
    assert np.allclose(train(net, optimizer, MESH, steps=4), want, rtol=1e-5)


class Chain(paddle.nn.Layer):
    def __init__(self, seen):
        super().__init__()
        self.first, self.middle, self.last, self.seen = (
            paddle.nn.Linear(4, 4),
            paddle.nn.Linear(4, 4),
            paddle.nn.Linear(4, 4),
            seen,
        )

    def forward(self, x):
        h = self.first(x)
        self.seen.append((list(h.shape), h.placements))
        h = self.middle(h)
        self.seen.append((list(h.shape), h.placements))
        return self.last(h)


def test_layouts_between_sequence_parallel_layers():
    data = np.random.RandomState(0).randn(2, 8, 4).astype("float32")
    plans = [
        ({"first": dist.SequenceParallelBegin(), "last": dist.SequenceParallelEnd()}, ([8, 2, 4], Shard(0))),
        (
            {"first": dist.SequenceParallelBegin(False), "last": dist.SequenceParallelEnd(False)},
            ([2, 8, 4], Shard(1)),
        ),
        (
            {
                "first": dist.SequenceParallelBegin(),
                "middle": dist.SequenceParallelDisable(),
                "last": dist.SequenceParallelEnd(),
            },
            ([8, 2, 4], Shard(0)),
        ),
        ({"first": dist.SequenceParallelEnable()}, ([2, 8, 4], Replicate())),
    ]
    for plan, (shape, placement) in plans:
        seen = []
        paddle.seed(5)
        net = Chain(seen)
        want = net(paddle.to_tensor(data)).numpy()
        seen.clear()
        dist.parallelize(net, None, MESH, {"mp_config": {"parallelize_plan": plan}})
        assert np.allclose(net(shard_tensor(data, MESH, [])).numpy(), want, rtol=1e-5, atol=1e-6)
        assert seen[0][0] == shape and seen[0][1][1] == placement
        if "middle" in plan:
            assert seen[1][0] == shape and seen[1][1][1] == placement


def test_hooks_and_single_parameters():
    seen = []
    plan = {
        "first": dist.PrepareLayerInput(lambda process_mesh: lambda layer, inputs: seen.append(process_mesh)),
        "last": dist.PrepareLayerOutput(lambda process_mesh: lambda layer, inputs, outputs: outputs * 2),
        "middle.weight": dist.ColWiseParallel(),
    }
    net = Chain([])
    x = paddle.ones([2, 4])
    want = net(x).numpy() * 2
    dist.parallelize(net, None, MESH, {"mp_config": {"parallelize_plan": plan}})
    assert np.allclose(net(x).numpy(), want, rtol=1e-5) and seen == [MESH]
    assert net.middle.weight.placements == [Replicate(), Shard(1)] and net.middle.bias.placements == [
        Replicate(),
        Replicate(),
    ]
    rows = Chain([])
    dist.parallelize(
        rows, None, MESH, {"mp_config": {"parallelize_plan": {"first": dist.RowWiseParallel(False)}}}
    )
    assert rows.first.weight.placements == [Replicate(), Shard(0)] and rows(x).shape == [2, 4]


def test_what_parallelize_refuses():
    net, optimizer = fresh()
    assert dist.parallelize(net, optimizer) == (net, optimizer) and not net.head.weight.is_dist()
    for mesh, config, error in [
        (None, {"dp_config": {}}, AssertionError),
        (MESH, {"pp_config": {"split_spec": "blocks"}}, AssertionError),
        (MESH, {"mp_config": {"parallelize_plan": {"head": 3}}}, AssertionError),
        (MESH, {"dp_config": {"sharding_level": 7}}, AssertionError),
        (dist.ProcessMesh([0, 1], ["x"]), {"mp_config": {"parallelize_plan": PLAN}}, AssertionError),
    ]:
        with pytest.raises(error):
            dist.parallelize(*fresh(), mesh, config)
    with pytest.warns(UserWarning, match="nobody"):
        dist.parallelize(
            *fresh(), MESH, {"mp_config": {"parallelize_plan": {"nobody": dist.ColWiseParallel()}}}
        )


def loss_of(logits, labels):
    return paddle.nn.functional.cross_entropy(logits.reshape([-1, VOCABULARY]), labels.reshape([-1]))


def batches(count):
    return [
        (shard_tensor(b[:, :-1], MESH, [Shard(0)]), shard_tensor(b[:, 1:], MESH, [Shard(0)]))
        for b in tokens(count)
    ]


@pytest.mark.parametrize("stage", [None, 2])
def test_compiled_models(want, stage):
    strategy = dist.Strategy({"sharding": {"enable": True, "stage": stage}}) if stage else None
    net, optimizer = dist.parallelize(*fresh(), MESH, {"mp_config": {"parallelize_plan": PLAN}})
    model = dist.to_static(net, None, loss_of, optimizer, strategy)
    with pytest.raises(ValueError, match="train"):
        model(*batches(1)[0])
    model.train()
    found = [model(*batch) for batch in batches(4)]
    assert type(found[0]) is np.ndarray and np.allclose(found, want, rtol=1e-5)
    model.eval()
    before = model(*batches(1)[0])
    assert np.allclose(before, model(*batches(1)[0]))
    model.predict()
    outputs = model(batches(1)[0][0])
    assert isinstance(outputs, list) and outputs[0].shape == (8, LENGTH, VOCABULARY)
    assert set(model.state_dict("param")) == set(net.state_dict())
    assert set(model.state_dict()) == set(model.state_dict("param")) | set(model.state_dict("opt"))
    state = {key: paddle.to_tensor(value.numpy()) for key, value in model.state_dict().items()}
    model.train()
    after = model(*batches(1)[0])
    model.set_state_dict(state)
    assert np.allclose(model(*batches(1)[0]), after, rtol=1e-5)


def test_state_of_a_compiled_model_with_a_scheduler():
    net = dist.shard_layer(paddle.nn.Linear(2, 1), MESH)
    scheduler = paddle.optimizer.lr.StepDecay(0.5, step_size=1)
    optimizer = paddle.optimizer.Momentum(scheduler, parameters=net.parameters())
    model = dist.to_static(net, None, paddle.nn.MSELoss(), optimizer)
    model.train()
    batch = shard_tensor(paddle.ones([8, 2]), MESH, [Shard(0)]), paddle.zeros([8, 1])
    model(*batch)
    scheduler.step()
    state = {key: paddle.to_tensor(value.numpy()) for key, value in model.state_dict().items()}
    losses = [model(*batch) for _ in range(2)]
    model.set_state_dict(state)
    assert scheduler.last_epoch == 1
    np.testing.assert_allclose([model(*batch) for _ in range(2)], losses, rtol=1e-5)


def test_merged_gradients():
    whole, halves = tokens(1, 8)[0], []
    for merged in (False, True):
        net, optimizer = dist.parallelize(*fresh(), MESH, {"mp_config": {"parallelize_plan": PLAN}})
        strategy = dist.Strategy({"gradient_merge": {"enable": merged, "k_steps": 2}})
        model = dist.to_static(net, None, loss_of, optimizer, strategy)
        model.train()
        for part in [whole[:4], whole[4:]] if merged else [whole]:
            part = shard_tensor(part, MESH, [Shard(0)])
            model(part[:, :-1], part[:, 1:])
        halves.append(net.head.weight.numpy())
    assert np.allclose(*halves, rtol=1e-4, atol=1e-6)


def test_mixed_precision_of_compiled_models(want):
    net, optimizer = dist.parallelize(*fresh(), MESH, {"mp_config": {"parallelize_plan": PLAN}})
    model = dist.to_static(
        net, None, loss_of, optimizer, dist.Strategy({"amp": {"enable": True, "dtype": "bfloat16"}})
    )
    model.train()
    assert np.allclose([float(model(*batch)) for batch in batches(3)], want[:3], rtol=2e-2)


def test_settings_that_do_not_exist_are_told():
    with pytest.warns(UserWarning, match="no setting 'shardin'; it is left out"):
        dist.Strategy({"shardin": {"enable": True}})
    with pytest.warns(
        UserWarning, match="no setting 'enabl'; it is left out; there are enable, k_steps, avg"
    ):
        strategy = dist.Strategy({"gradient_merge": {"enabl": True}})
    with pytest.warns(UserWarning, match="no setting 'k_step'; it changes nothing"):
        strategy.gradient_merge.k_step = 2
    with pytest.warns(UserWarning, match="there is no mp_confi;"):
        dist.parallelize(*fresh(), MESH, {"mp_confi": {}})
