"""Training on a mesh of eight devices gives what training on one gives: data, tensor and state parallelism,
mixed precision, clipping."""

import functools as ft

import jax
import numpy as np
import pytest

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax.distributed import Partial, Replicate, Shard, reshard, shard_tensor
from tests.distributed.eight.model import MESH, bytes_per_device, make, train


@ft.cache
def single(**settings):
    """Losses and weights of one device."""
    net, optimizer = make(**settings)
    return train(net, optimizer), {name: p.numpy() for name, p in net.named_parameters()}


@ft.cache
def trained(stage):
    """A network and its optimizer on the mesh, their losses, and the placements before the first step."""
    net, optimizer = make(MESH, stage, dropout=0.1)
    before = {name: p.placements for name, p in net.named_parameters()}
    return net, optimizer, train(net, optimizer, MESH), before


@pytest.mark.parametrize("stage", [None, 1, 2, 3])
def test_a_transformer_on_2x4_equals_one_device(stage):
    """6 steps of AdamW with clipping by the global norm; dropout draws the same masks."""
    net, _, losses, before = trained(stage)
    assert_as_single(net, losses, before)


def assert_as_single(net, losses, before):
    want, weights = single(dropout=0.1)
    assert np.allclose(losses, want, rtol=1e-5)
    assert want[-1] < want[0]
    for name, param in net.named_parameters():
        # the loss does not change with that of the keys: Adam scales up the rounding errors of its gradient
        if not name.endswith("qkv.bias"):
            assert np.allclose(param.numpy(), weights[name], rtol=1e-3, atol=2e-5), name
        assert param._value.sharding.is_equivalent_to(param._dist.sharding(param.shape), param.ndim), name
        assert param.placements == before[name]


def test_a_compiled_transformer_equals_one_device(monkeypatch):
    """No tracer is asked for its sharding: its error names all equations so far, and a long trace would take
    hours."""
    asked = []

    def sharding(tracer):
        asked.append(tracer)
        raise AttributeError("sharding")

    monkeypatch.setattr(jax.core.Tracer, "sharding", property(sharding))
    net, optimizer = make(MESH, 3, dropout=0.1)
    before = {name: p.placements for name, p in net.named_parameters()}
    losses = train(net, optimizer, MESH, compiled=True)
    assert not asked
    assert_as_single(net, losses, before)


def test_memory_falls_from_stage_to_stage():
    held = {}
    for stage in (None, 1, 2, 3):
        net, optimizer, _, _ = trained(stage)
        states = [t for group in optimizer._groups for stack in group.stacks for t in stack.state.values()]
        held[stage] = [max(bytes_per_device(each).values()) for each in (net.parameters(), states)]
    assert held[1][0] == held[None][0] and held[2] == held[1]
    assert held[1][1] < 0.55 * held[None][1]
    assert held[3][0] < 0.55 * held[None][0] and held[3][1] == held[1][1]


def test_gradients_are_cut_in_stage_2():
    for stage, want in [(1, [Replicate(), Shard(1)]), (2, [Shard(0), Shard(1)])]:
        net, _ = make(MESH, stage)
        net(shard_tensor(np.zeros((4, 8), "int64"), MESH, [Shard(0)])).mean().backward()
        assert net.blocks[0].up.weight.grad.placements == want


def test_states_have_their_names_and_layouts():
    net, optimizer, _, _ = trained(1)
    state, name = optimizer.state_dict(), net.blocks[0].up.weight.name
    assert name.endswith(".dist")
    assert state[f"{name}_moment1_0"].placements == [Shard(0), Shard(1)]
    assert state[f"{name}_beta1_pow_acc_0"].placements == [Replicate(), Replicate()]


def test_states_go_from_one_layout_to_another():
    net, optimizer = make(MESH, 1)
    train(net, optimizer, MESH, steps=3)
    weights = {name: paddle.to_tensor(value.numpy()) for name, value in net.state_dict().items()}
    state = optimizer.state_dict()
    want = train(net, optimizer, MESH, steps=3)
    other, second = make(MESH, 3)
    other.set_state_dict(weights)
    assert all(
        p.is_dist() and p._value.sharding.is_equivalent_to(p._dist.sharding(p.shape), p.ndim)
        for p in other.parameters()
    )
    names = {a.name: b.name for a, b in zip(net.parameters(), other.parameters(), strict=True)}
    second.set_state_dict(
        {
            names[key.partition(".dist_")[0] + ".dist"] + key.partition(".dist")[2]: value
            for key, value in state.items()
        }
    )
    assert np.allclose(train(other, second, MESH, steps=3), want, rtol=1e-5)
    found = second.state_dict()[f"{other.head.weight.name}_moment1_0"]
    assert found.placements == [Shard(0), Shard(1)]


def test_a_function_says_where_states_lie():
    net, optimizer = make(MESH)
    seen = set()

    def place(key, param, tensor):
        seen.add(key)
        return shard_tensor(tensor, MESH, [Shard(0)]) if param.shape[0] % 2 == 0 else None

    dist.shard_optimizer(optimizer, place)
    want = single()[0][:3]
    assert np.allclose(train(net, optimizer, MESH, steps=3), want, rtol=1e-5)
    assert {"moment1", "moment2"} <= seen
    assert optimizer.state_dict()[f"{net.head.weight.name}_moment1_0"].placements == [Shard(0), Replicate()]


def test_mixed_precision():
    def losses(mesh):
        net, optimizer = make(mesh, mesh and 1)
        scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
        return train(
            net,
            optimizer,
            mesh,
            5,
            mesh is not None,
            "float16",
            scaler if mesh is None else dist.shard_scaler(scaler),
        )

    assert np.allclose(losses(MESH), losses(None), rtol=2e-3)


def test_parameters_of_low_precision_keep_sharded_master_weights():
    def losses(mesh):
        net, optimizer = make(mesh, mesh and 1, multi_precision=True)
        net.to(dtype="bfloat16")
        found = train(net, optimizer, mesh, 4)
        return found, optimizer, net

    (got, optimizer, net), (want, _, _) = losses(MESH), losses(None)
    assert np.allclose(got, want, rtol=3e-2)
    master = optimizer.state_dict()["master_weights"][net.head.weight.name]
    assert master.dtype == paddle.float32 and master.placements == [Shard(0), Shard(1)]


@pytest.mark.parametrize("clip", [None, paddle.nn.ClipGradByNorm(0.1), paddle.nn.ClipGradByValue(0.01)])
def test_clipping(clip):
    losses = []
    for mesh in (None, MESH):
        net, optimizer = make(mesh, mesh and 2, grad_clip=clip)
        losses.append(train(net, optimizer, mesh, 4))
    assert np.allclose(*losses, rtol=1e-5)


def test_parameters_on_two_meshes():
    halves = [dist.ProcessMesh([0, 1, 2, 3], ["x"]), dist.ProcessMesh([4, 5, 6, 7], ["x"])]
    data, losses = np.random.RandomState(0).randn(8, 8).astype("float32"), []
    for meshes in (None, halves):
        paddle.seed(1)
        first, second = paddle.nn.Linear(8, 8), paddle.nn.Linear(8, 4)
        if meshes:
            dist.shard_layer(first, meshes[0])
            dist.shard_layer(second, meshes[1])
        parameters, clip = [*first.parameters(), *second.parameters()], paddle.nn.ClipGradByGlobalNorm(0.1)
        optimizer = paddle.optimizer.AdamW(0.01, parameters=parameters, grad_clip=clip)
        for _ in range(4):
            x = paddle.to_tensor(data) if meshes is None else shard_tensor(data, meshes[0], [Shard(0)])
            h = first(x).tanh()
            h = h if meshes is None else reshard(h, meshes[1], [Shard(0)])
            loss = second(h).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
    assert np.allclose(losses[:4], losses[4:], rtol=1e-5)


def test_shard_layer():
    shared = paddle.nn.Linear(4, 4)
    net = paddle.nn.Sequential(shared, paddle.nn.BatchNorm1D(4), paddle.nn.Sequential(shared))
    net[2][0].weight = shared.weight
    calls = []
    dist.shard_layer(
        net,
        MESH,
        lambda name, layer, mesh: calls.append(name),
        lambda inputs, mesh: (reshard(inputs[0], mesh, [Shard(0)]),),
        lambda out, mesh: reshard(out, mesh, [Replicate()]),
    )
    assert calls == ["", "0", "1", "2"] or "" in calls
    assert all(
        t.is_dist() and t.placements == [Replicate(), Replicate()]
        for t in [*net.parameters(), *net.buffers()]
    )
    assert net[0].weight is net[2][0].weight
    out = net(shard_tensor(np.random.randn(8, 4).astype("float32"), MESH, [Replicate()]))
    assert out.placements == [Replicate(), Replicate()]
    with pytest.raises(ValueError):
        dist.shard_layer(net, 3)


def test_data_loaders():
    data = paddle.io.TensorDataset([paddle.arange(32.0).reshape([16, 2]), paddle.arange(16)])
    loader = paddle.io.DataLoader(data, batch_size=4)
    found = list(dist.shard_dataloader(loader, MESH, shard_dims="dp"))
    assert len(found) == len(loader) == 4
    assert [x.placements for x in found[0]] == [[Shard(0), Replicate()]] * 2
    assert np.array_equal(np.concatenate([x.numpy() for x, _ in found]), np.arange(32).reshape(16, 2))
    x, y = next(iter(dist.shard_dataloader(loader, [MESH, dist.ProcessMesh([0, 1])], shard_dims=["mp", 0])))
    assert x.placements == [Replicate(), Shard(0)] and y.process_mesh.size == 2 and y.placements == [Shard(0)]
    named = [{"a": paddle.ones([4]), "b": [paddle.ones([4]), paddle.ones([4])]}]
    batch = next(
        iter(
            dist.shard_dataloader(named, MESH, input_keys=["a", "b"], shard_dims="dp", dense_tensor_idx=None)
        )
    )
    assert batch["b"][1].placements == [Shard(0), Replicate()]
    batch = next(
        iter(
            dist.shard_dataloader(
                [[paddle.ones([4]), [paddle.ones([4]), 3]]], MESH, dense_tensor_idx=[[0], []]
            )
        )
    )
    assert not batch[0].is_dist() and batch[1][0].is_dist() and batch[1][1] == 3
    for wrong in ({"is_dataset_splitted": True}, {"shard_dims": ["dp", "mp"]}):
        with pytest.raises(ValueError):
            dist.shard_dataloader(loader, MESH, **wrong)
    with pytest.raises(ValueError, match="shard_dims: got 'zz'; the mesh has"):
        next(iter(dist.shard_dataloader(loader, MESH, shard_dims="zz")))


DATA = np.random.RandomState(2).randn(8, 8).astype("float32")


def test_local_functions():
    x = shard_tensor(DATA, MESH, [Shard(0), Shard(1)])
    x.stop_gradient = False
    outer = paddle.to_tensor(2.0, stop_gradient=False)
    local = dist.local_map(
        lambda v, n: ((v * v).sum() * outer, v * n, n),
        [[Partial(), Partial()], [Shard(0), Shard(1)], None],
        [[Shard(0), Shard(1)], None],
        MESH,
    )
    total, scaled, n = local(x, 3)
    assert total.placements == [Partial(), Partial()] and scaled.placements == [Shard(0), Shard(1)] and n == 3
    assert np.allclose(total.numpy(), 2 * (DATA**2).sum(), rtol=1e-6) and np.allclose(
        scaled.numpy(), 3 * DATA
    )
    g = paddle.grad(total, [x], create_graph=True)[0]
    assert np.allclose(g.numpy(), 4 * DATA, rtol=1e-5)
    (g * g).sum().backward()
    assert np.allclose(x.grad.numpy(), 32 * DATA, rtol=1e-5) and np.allclose(
        float(outer.grad), 16 * (DATA**2).sum(), rtol=1e-5
    )
    for placements, want in [
        ([Partial(dist.ReduceType.kRedMax)] * 2, DATA.max()),
        ([Partial(dist.ReduceType.kRedMin)] * 2, DATA.min()),
    ]:
        found = dist.local_map(
            lambda v: v.max() if want > 0 else v.min(),  # noqa: B023
            [placements],
            [[Shard(0), Shard(1)]],
            MESH,
        )(x)
        assert np.isclose(float(found), want)


def test_copies_in_local_functions():
    x = shard_tensor(DATA, MESH, [Replicate(), Replicate()])
    x.stop_gradient = False
    out = dist.local_map(lambda v: v * v, [[Replicate(), Replicate()]], [[Replicate(), Replicate()]], MESH)(x)
    out.sum().backward()
    assert np.allclose(x.grad.numpy(), 2 * DATA)
    part = shard_tensor(DATA, MESH, [Partial(), Shard(1)])
    assert np.allclose(
        dist.local_map(lambda v: v + 0, [[Partial(), Shard(1)]], None, MESH)(part).numpy(), DATA
    )


def test_local_functions_refuse():
    x = shard_tensor(DATA, MESH, [Shard(0)])
    for make_, error in [
        (lambda: dist.local_map(lambda v: v, [[Shard(0)]], [[Replicate()]], MESH)(x), ValueError),
        (lambda: dist.local_map(lambda v: v, [[Shard(0)]], [[Shard(0)], None], MESH)(x), AssertionError),
        (lambda: dist.local_map(lambda v: (v, v), [[Shard(0)]], [[Shard(0)]], MESH)(x), AssertionError),
        (lambda: dist.local_map(lambda v: v, [[Shard(0)]])(paddle.ones([2])), AssertionError),
        (
            lambda: dist.local_map(lambda v: v, [[Shard(0)]], [[Shard(0)]], MESH)(
                shard_tensor(np.ones(5), MESH, [Shard(0)])
            ),
            ValueError,
        ),
    ]:
        with pytest.raises(error):
            make_()
    again = dist.local_map(
        lambda v: v, [[Replicate(), Shard(1)]], [[Replicate(), Shard(1)]], MESH, reshard_inputs=True
    )(x)
    assert np.array_equal(again.numpy(), DATA)


def test_local_layers():
    class Scaled(dist.LocalLayer):
        def __init__(self):
            super().__init__([(MESH, [Shard(0), Replicate()])], [None])
            self.scale = self.create_parameter([8], default_initializer=paddle.nn.initializer.Constant(3.0))

        def forward(self, x):
            return x * self.scale

    layer = Scaled()
    out = layer(shard_tensor(DATA, MESH, [Shard(0)]))
    out.sum().backward()
    assert np.allclose(out.numpy(), 3 * DATA) and np.allclose(
        layer.scale.grad.numpy(), DATA.sum(0), rtol=1e-4, atol=1e-5
    )


def test_optimizers_refuse():
    with pytest.raises(AssertionError):
        dist.shard_optimizer(3)
    net, optimizer = make(MESH)
    with pytest.raises(ValueError, match="the mesh has"):
        dist.shard_optimizer(optimizer, dist.ShardingStage1("none", MESH))


def lazy_embedding(placements, lazy):
    """(losses, weight after each step) of Adam on sparse gradients; placements: of the weight, or None."""
    embedding = paddle.nn.Embedding(8, 8, sparse=True)
    embedding.weight.set_value(np.arange(64, dtype="f4").reshape(8, 8) / 20 - 1)
    if placements is not None:
        embedding.weight = shard_tensor(embedding.weight, MESH, placements)
    optimizer = paddle.optimizer.Adam(0.1, parameters=embedding.parameters(), lazy_mode=lazy)
    losses, weights = [], []
    for rows in ([0, 1, 1], [5, 7], [1, 2, 7], [0]):
        loss = (embedding(paddle.to_tensor(rows)) ** 2).sum()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
        weights.append(embedding.weight.numpy())
    return np.array(losses), np.array(weights), embedding.weight


@pytest.mark.parametrize(
    "placements", [[Shard(0), Replicate()], [Replicate(), Shard(1)], [Shard(0), Shard(1)]]
)
def test_lazy_rows_of_sharded_weights(placements):
    """Adam moves the rows that a step used, and no others, as on one device."""
    losses, weights, _ = lazy_embedding(None, lazy=True)
    got_losses, got_weights, weight = lazy_embedding(placements, lazy=True)
    assert weight.placements == placements
    np.testing.assert_allclose(got_losses, losses, rtol=1e-5)
    np.testing.assert_allclose(got_weights, weights, rtol=1e-5, atol=1e-6)
    moved = [
        sorted(set(np.nonzero(after != before)[0].tolist()))
        for before, after in zip(got_weights[:-1], got_weights[1:], strict=True)
    ]
    assert moved == [[5, 7], [1, 2, 7], [0]]
