"""What makes whole models parallel: `Engine`, `to_distributed`, the plans for images and sequences, parts of
Tensors in checkpoints."""

import numpy as np
import pytest

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax.distributed import Replicate, Shard, shard_tensor
from paddle_jax.distributed.auto_parallel import Engine

RNG = np.random.RandomState(0)
DATA = paddle.io.TensorDataset(
    [paddle.to_tensor(RNG.randn(40, 6).astype("float32")), paddle.to_tensor(RNG.randint(0, 3, [40, 1]))]
)


def fresh():
    paddle.seed(2)
    net = paddle.nn.Sequential(paddle.nn.Linear(6, 16), paddle.nn.Tanh(), paddle.nn.Linear(16, 3))
    return net, paddle.optimizer.AdamW(0.02, parameters=net.parameters())


def by_hand(epochs=2, batch=16):
    """The mean loss of each epoch on one device, and the network."""
    (net, optimizer), means = fresh(), []
    for _ in range(epochs):
        losses = []
        for x, y in paddle.io.DataLoader(DATA, batch_size=batch, drop_last=True):
            loss = paddle.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
        means.append(np.mean(losses))
    return means, net


def test_engine(tmp_path):
    means, alone = by_hand()
    (net, optimizer), seen = fresh(), []

    class Seen(paddle.callbacks.Callback):
        def on_train_batch_end(self, step, logs=None):
            seen.append((step, logs["batch_size"]))

    engine = Engine(net, paddle.nn.CrossEntropyLoss(), optimizer, paddle.metric.Accuracy())
    history = engine.fit(DATA, batch_size=16, epochs=2, valid_data=DATA, verbose=0, callbacks=Seen()).history
    assert np.allclose(history["loss"], means, rtol=1e-5)
    assert (
        seen == [(0, 16), (1, 16)] * 2
        and net[0].weight.placements == [Replicate()]
        and net[0].weight.process_mesh.shape == [8]
    )
    logits = alone(DATA.tensors[0]).numpy()
    found = engine.evaluate(DATA, batch_size=40, verbose=0)
    assert np.isclose(found["acc"], (logits.argmax(1) == DATA.tensors[1].numpy()[:, 0]).mean())
    assert np.isclose(
        found["loss"],
        float(paddle.nn.functional.cross_entropy(paddle.to_tensor(logits), DATA.tensors[1])),
        rtol=1e-5,
    )
    assert np.isclose(history["val_acc"][-1], found["acc"])
    batches = engine.predict(DATA, batch_size=16, verbose=0)
    assert [len(out) for (out,) in batches] == [16, 16, 8]
    assert np.allclose(np.concatenate([out for (out,) in batches]), logits, rtol=1e-4, atol=1e-6)
    engine.save(str(tmp_path / "program"), training=False)
    saved = paddle.jit.load(str(tmp_path / "program"))
    assert np.allclose(saved(DATA.tensors[0][:5]).numpy(), logits[:5], rtol=1e-4, atol=1e-6)
    engine.save(str(tmp_path / "net"))
    other = Engine(*[(made := fresh())[0], paddle.nn.CrossEntropyLoss(), made[1]])
    other.load(str(tmp_path / "net"))
    assert np.isclose(other.evaluate(DATA, batch_size=40, verbose=0)["loss"], found["loss"], rtol=1e-5)
    assert any(
        np.abs(state.numpy()).sum() > 0
        for key, state in other.optimizer.state_dict().items()
        if "moment1" in key
    )


def test_engine_one_step_at_a_time(tmp_path):
    net, optimizer = fresh()
    engine = Engine(net, paddle.nn.CrossEntropyLoss(), optimizer)
    batch = {"x": DATA.tensors[0][:8].numpy(), "y": DATA.tensors[1][:8].numpy()}
    with pytest.raises(ValueError, match="no mode"):
        engine.run(batch)
    engine.prepare([paddle.static.InputSpec([None, 6], "float32", "x")], mode="train")
    losses = [engine.run(batch)["loss"] for _ in range(3)]
    assert losses[2] < losses[0]
    plan = dist.plan(
        engine.dist_model,
        *[shard_tensor(v, dist.ProcessMesh(np.arange(8), ["dp"]), [Shard(0)]) for v in batch.values()],
    )
    assert plan.devices == 8 and any(c.kind == "all-reduce" for c in plan.collectives)
    (outputs,) = engine.run([batch["x"]], mode="predict")["outputs"]
    engine.save(str(tmp_path / "program"), training=False)
    assert np.allclose(
        paddle.jit.load(str(tmp_path / "program"))(paddle.to_tensor(batch["x"])).numpy(),
        outputs,
        rtol=1e-5,
        atol=1e-6,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"model": 3},
        {"loss": 3},
        {"optimizer": 3},
        {"metrics": [3]},
        {"strategy": {"amp": {}}},
    ],
)
def test_engine_arguments(arguments):
    with pytest.raises(TypeError, match=f"Engine: {next(iter(arguments))}: got"):
        Engine(**({"model": paddle.nn.Linear(1, 1)} | arguments))


def test_to_distributed():
    means, _ = by_hand(1)
    loader = paddle.io.DataLoader(DATA, batch_size=16, drop_last=True)
    net, optimizer, batches = dist.to_distributed(*fresh(), loader, device_num=8)
    losses = []
    for x, y in batches:
        assert x.placements == [Shard(0)] and x.process_mesh.shape == [8]
        loss = paddle.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert np.isclose(np.mean(losses), means[0], rtol=1e-5)
    assert optimizer.state_dict()[f"{net[0].bias.name}_moment1_0"].placements == [Shard(0)]
    with pytest.raises(ValueError, match="there are 8 devices"):
        dist.to_distributed(*fresh(), loader, device_num=9)


@pytest.mark.parametrize(
    "layout, kernel, stride, padding, width",
    [
        ("NCHW", 3, 1, 1, 16),
        ("NCHW", 5, 2, 2, 16),
        ("NCHW", 2, 2, 0, 16),
        ("NHWC", 3, 1, "SAME", 8),
        ("NCHW", 3, 1, 0, 10),
    ],
)
def test_images_in_columns(layout, kernel, stride, padding, width):
    mesh = dist.ProcessMesh([[0, 1, 2, 3]], ["dp", "mp"])
    image = RNG.randn(*([2, 3, 6, width] if layout == "NCHW" else [2, 6, width, 3])).astype("float32")
    net = paddle.nn.Sequential(
        paddle.nn.Conv2D(3, 4, kernel, stride, padding, data_format=layout), paddle.nn.ReLU()
    )
    want, gradient = _with_gradient(net, paddle.to_tensor(image, stop_gradient=False))
    seen = []
    dist.parallelize(net, None, mesh, {"mp_config": {"parallelize_plan": {"0": dist.ConvParallel()}}})
    net[0].register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0].placements))
    found = _with_gradient(net, shard_tensor(image, mesh, [], stop_gradient=False))
    assert np.allclose(found[0], want, rtol=1e-5, atol=1e-5) and np.allclose(
        found[1], gradient, rtol=1e-4, atol=1e-5
    )
    assert seen[0] == [Replicate(), Shard(layout.index("W"))]


def _with_gradient(net, x):
    out = net(x)
    (out * out).sum().backward()
    return out.numpy(), x.grad.numpy()


class Attention(paddle.nn.Layer):
    def forward(self, query, key, value):
        return paddle.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)


class Block(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.qkv, self.attention, self.out, self.seen = (
            paddle.nn.Linear(16, 48),
            Attention(),
            paddle.nn.Linear(16, 16),
            [],
        )

    def forward(self, x):
        q, k, v = self.qkv(x).reshape([x.shape[0], x.shape[1], 4, 12]).chunk(3, -1)
        y = self.attention(q, key=k, value=v)
        if self.seen is not None:
            self.seen.append((x.placements, y.placements))
        return self.out(y.reshape([x.shape[0], x.shape[1], 16]))


@pytest.mark.parametrize("way", ["p2p", "all2all"])
def test_sequences_in_pieces(way):
    mesh = dist.ProcessMesh([[0, 1, 2, 3]], ["dp", "sep"])
    paddle.seed(4)
    net, data = Block(), RNG.randn(2, 8, 16).astype("float32")
    want, gradient = _with_gradient(net, paddle.to_tensor(data, stop_gradient=False))
    plan = {"": dist.PrepareContextParallel(way), "attention": dist.ContextParallel(way)}
    dist.parallelize(net, None, mesh, {"cp_config": {"parallelize_plan": plan}})
    net.seen.clear()
    found = _with_gradient(net, shard_tensor(data, mesh, [], stop_gradient=False))
    assert np.allclose(found[0], want, rtol=1e-5, atol=1e-5) and np.allclose(
        found[1], gradient, rtol=1e-4, atol=1e-5
    )
    assert net.seen == [([Replicate(), Shard(1)], [Replicate(), Shard(1)])]
    net.seen = None
    sent = {c.kind for c in dist.plan(net, shard_tensor(data, mesh, [])).collectives}
    assert ("all-to-all" in sent) == (way == "all2all")
    with pytest.raises(AssertionError, match="named 'sep'"):
        dist.parallelize(
            Block(), None, dist.ProcessMesh([0, 1], ["dp"]), {"cp_config": {"parallelize_plan": plan}}
        )


def test_parts_in_checkpoints(tmp_path):
    whole = RNG.randn(4, 6).astype("float32")
    parts = {
        i: dist.ShardedWeight("w", paddle.to_tensor(whole[2 * i : 2 * i + 2]), (2, 6), (4, 6), (2 * i, 0))
        for i in range(2)
    }
    mesh = dist.ProcessMesh([0, 1], ["x"])
    dist.save_state_dict(
        {"w": shard_tensor(whole, mesh, [Shard(1)]), "n": {"b": paddle.ones([3])}}, str(tmp_path)
    )
    for part in parts.values():
        part.local_tensor.fill_(0)
        dist.load_state_dict({"any name": part}, str(tmp_path))
    assert np.array_equal(np.concatenate([part.local_tensor.numpy() for part in parts.values()]), whole)
    merged = dist.load_merged_state_dict(str(tmp_path))
    assert (
        sorted(merged) == ["n.b", "w"]
        and np.array_equal(merged["w"].numpy(), whole)
        and not merged["w"].is_dist()
    )
    assert sorted(dist.load_merged_state_dict(str(tmp_path), prefix="n.")) == ["n.b"]
    with pytest.raises(ValueError, match="checkpoint has"):
        dist.load_state_dict(
            {"w": dist.ShardedWeight("w", paddle.ones([2, 6]), (2, 6), (6, 6), (0, 0))}, str(tmp_path)
        )
    with pytest.raises(ValueError, match="must lie within"):
        dist.ShardedWeight("w", paddle.ones([2, 6]), (2, 6), (4, 6), (3, 0))


def test_one_process_that_counts_as_its_devices():
    assert dist.get_world_size() == 1
    paddle.set_flags({"FLAGS_single_controller": True})
    try:
        assert dist.get_world_size() == 8 and dist.get_rank() == 0
        mesh = dist.ProcessMesh(np.arange(dist.get_world_size()), ["dp"])
        # this process reads the batches of all
        assert len(list(paddle.io.DistributedBatchSampler(DATA, 16))) == 3
        assert float(shard_tensor(np.ones(8, "float32"), mesh, [Shard(0)]).sum()) == 8.0
        with pytest.raises(RuntimeError, match="reshard, dist.local_map"):
            dist.all_reduce(paddle.ones([1]))
    finally:
        paddle.set_flags({"FLAGS_single_controller": False})


class Failing(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner = paddle.nn.Linear(6, 3)

    def forward(self, x):
        if x.shape[0] == 1:
            raise KeyError("on purpose")
        return self.inner(x) + self.inner(x * 2)  # the same layer twice


@pytest.mark.parametrize("compiled", [False, True])
def test_weights_whole_where_they_are_used(compiled):
    mesh, losses = dist.ProcessMesh(np.arange(8).reshape(2, 4), ["dp", "mp"]), []
    for gathered in (None, False, True):
        net, optimizer = fresh()
        if gathered is not None:
            plan = {"0": dist.ColWiseParallel(), "2": dist.RowWiseParallel()}
            config = {"mp_config": {"parallelize_plan": plan}, "dp_config": {"sharding_level": 3}}
            net, optimizer = dist.parallelize(net, optimizer, mesh, config)
        if gathered:
            assert dist.gather_weights(net) is net

        def step(x, y):
            loss = paddle.nn.functional.cross_entropy(net(x), y)  # noqa: B023
            loss.backward()
            optimizer.step()  # noqa: B023
            optimizer.clear_grad()  # noqa: B023
            return loss

        run = paddle.jit.to_static(step) if compiled else step
        x, y = (t if gathered is None else shard_tensor(t, mesh, [Shard(0)]) for t in DATA.tensors)
        losses.append([float(run(x, y)) for _ in range(6)])
        if gathered:
            assert net[0].weight.placements == [Shard(0), Shard(1)] and isinstance(
                net[0].weight, paddle.base.framework.EagerParamBase
            )
            assert optimizer.state_dict()[f"{net[0].weight.name}_moment1_0"].placements == [
                Shard(0),
                Shard(1),
            ]
            assert {id(p) for p in net.parameters()} == {id(p) for p in optimizer._all_params()}
    assert np.allclose(losses[1:], losses[0], rtol=1e-5)


def test_what_is_received_with_whole_weights_does_not_grow_with_the_batch():
    mesh, moved = dist.ProcessMesh(np.arange(8), ["dp"]), {}
    for gathered in (False, True):
        net = dist.shard_layer(paddle.nn.Linear(64, 64), mesh)
        dist.shard_optimizer(
            paddle.optimizer.SGD(0.1, parameters=net.parameters()), dist.ShardingStage3("dp", mesh)
        )
        if gathered:
            dist.gather_weights(net)
        for batch in (64, 1024):
            found = dist.plan(net, shard_tensor(np.ones((batch, 64), "float32"), mesh, [Shard(0)]))
            moved[gathered, batch] = found.moved
    whole = 4 * (64 * 64 + 64) * 7 // 8
    assert moved[True, 64] == moved[True, 1024] and whole - 300 <= moved[True, 64] <= whole
    with pytest.raises(ValueError, match="ShardingStage3"):
        dist.gather_weights(paddle.nn.Linear(2, 2))


def test_weights_are_put_back():
    mesh = dist.ProcessMesh(np.arange(8), ["dp"])
    net = dist.shard_layer(Failing(), mesh)
    weight = net.inner.weight.numpy()
    dist.shard_optimizer(
        paddle.optimizer.SGD(0.1, parameters=net.parameters()), dist.ShardingStage3("dp", mesh)
    )
    dist.gather_weights(net)
    kept = net.inner.weight
    with pytest.raises(KeyError):
        net(paddle.ones([1, 6]))
    with pytest.raises(ValueError):
        net(paddle.ones([2, 5]))
    assert net.inner.weight is kept
    x = shard_tensor(np.ones((8, 6), "float32"), mesh, [Shard(0)])
    net(x).sum().backward()
    assert (
        net.inner.weight is kept
        and np.allclose(kept.grad.numpy(), np.full((6, 3), 24.0))
        and np.allclose(net.inner.weight.numpy(), weight)
    )
