"""Tensors and Layers as JAX pytrees, optax and flax beside Paddle, and the documents about them."""

import importlib.util
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
X = np.random.RandomState(3).randn(4, 3).astype("float32")


@pytest.fixture
def net(paddle):
    return paddle.nn.Sequential(
        paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4), paddle.nn.Dropout(0.5), paddle.nn.Linear(4, 2)
    )


def test_tensors(paddle):
    x = paddle.to_tensor(X)
    leaves, tree = jax.tree.flatten({"a": x, "b": [paddle.nn.Parameter(x)]})
    assert [type(leaf) for leaf in leaves] == [type(x._value)] * 2
    back = jax.tree.unflatten(tree, leaves)
    assert type(back["a"]) is paddle.Tensor and back["a"].stop_gradient
    assert isinstance(back["b"][0], paddle.nn.Parameter) and back["b"][0].trainable
    assert jax.tree.structure(x) == jax.tree.structure(paddle.ones([2]))
    jax.tree.unflatten(tree, [None, object()])  # JAX puts placeholders in
    doubled = jax.jit(lambda d: {"y": d["x"] * 2, "flag": d["x"].stop_gradient})({"x": x})
    np.testing.assert_array_equal(doubled["y"].numpy(), 2 * X)
    assert not doubled["flag"] and doubled["y"].stop_gradient
    rows = jax.vmap(lambda row: row.sum() * paddle.ones([2]))(x)
    np.testing.assert_allclose(rows.numpy(), X.sum(1)[:, None] * np.ones(2), rtol=1e-6)
    carry, _ = jax.lax.scan(lambda c, row: (c + row, c), paddle.zeros([3]), x)
    np.testing.assert_allclose(carry.numpy(), X.sum(0), rtol=1e-5)
    assert jax.eval_shape(lambda x: x @ x.T, x).shape == [4, 4]


def test_gradients_by_jax(paddle):
    x = paddle.to_tensor(X)
    np.testing.assert_allclose(jax.grad(lambda x: jnp.asarray((x**3).sum()))(x).numpy(), 3 * X**2, rtol=1e-5)
    np.testing.assert_array_equal(jax.grad(lambda x: jnp.asarray((x.detach() * x).sum()))(x).numpy(), X)
    np.testing.assert_array_equal(jax.grad(lambda x: jnp.asarray(x.detach().sum()))(x).numpy(), 0 * X)

    def inner(x):
        return jnp.asarray(paddle.grad((x**3).sum(), x, create_graph=True)[0].sum())

    np.testing.assert_allclose(jax.grad(inner)(x).numpy(), 6 * X, rtol=1e-5)
    np.testing.assert_allclose(
        jax.jacfwd(lambda x: jnp.asarray(x * x))(x[0])._value, np.diag(2 * X[0]), rtol=1e-6
    )
    for enter in (paddle.to_tensor, paddle.Tensor):
        np.testing.assert_allclose(
            jax.grad(lambda v: jnp.asarray((enter(v) ** 2).sum()))(jnp.asarray(X)),  # noqa: B023
            2 * X,
            rtol=1e-6,
        )


def test_layers(net, paddle):
    x = paddle.to_tensor(X)
    leaves, tree = jax.tree.flatten(net)
    assert len(leaves) == len(net.state_dict())
    back = jax.tree.unflatten(tree, leaves)
    assert (
        type(back) is type(net)
        and list(back.state_dict()) == list(net.state_dict())
        and back[3] is not net[3]
    )
    net.eval()
    np.testing.assert_allclose(jax.jit(lambda net, x: net(x))(net, x).numpy(), net(x).numpy(), rtol=1e-5)
    traced = []

    @jax.jit
    def count(net, x):
        traced.append(1)
        return net(x)

    for _ in range(3):
        count(net, x)
    net[3].weight.set_value(net[3].weight * 2)
    np.testing.assert_allclose(count(net, x).numpy(), net(x).numpy(), rtol=1e-5)
    assert len(traced) == 1
    net.train()
    count(net, x)
    net[2].p = 0.25
    count(net, x)
    assert len(traced) == 3  # other settings, another program
    before = net[1]._mean.numpy()
    _, after = jax.jit(lambda net, x: (net(x), net))(net, x)
    np.testing.assert_array_equal(net[1]._mean.numpy(), before)
    assert not np.array_equal(after[1]._mean.numpy(), before)
    paths = [
        jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(paddle.nn.Linear(2, 2))
    ]
    assert paths[0] == "['weight'][<flat index 0>]"
    tied = paddle.nn.LayerList([paddle.nn.Linear(3, 3), paddle.nn.Linear(3, 3)])
    tied[1].weight = tied[0].weight
    again = jax.tree.unflatten(*reversed(jax.tree.flatten(tied)))
    assert len(jax.tree.leaves(tied)) == 3 and again[1].weight is again[0].weight


@pytest.mark.parametrize(
    "make",
    [
        "nn.LSTM(3, 4, 2, direction='bidirect')",
        "nn.MultiHeadAttention(3, 1)",
        "nn.TransformerEncoderLayer(3, 1, 8, dropout=0.0)",
        "nn.Conv1D(4, 2, 3)",
        "nn.utils.weight_norm(nn.Linear(3, 2))",
        "nn.Embedding(3, 2)",
    ],
)
def test_gradients_of_layers_are_those_of_backward(make, paddle):
    layer = eval(make, {"nn": paddle.nn})
    x = paddle.to_tensor([[0, 1], [2, 0]]) if "Embedding" in make else paddle.to_tensor(X[None])

    def total(out):
        return sum(
            ((t * t).sum() for t in jax.tree.leaves(out, is_leaf=lambda t: isinstance(t, paddle.Tensor))),
            paddle.zeros([]),
        )

    found = paddle.func.grad(lambda layer, x: total(layer(x)))(layer, x)
    total(layer(x)).backward()
    for (name, p), (other, g) in zip(layer.named_parameters(), found.named_parameters(), strict=True):
        assert name == other
        np.testing.assert_allclose(g.numpy(), p.grad.numpy(), rtol=1e-4, atol=1e-5, err_msg=name)


def test_optax_as_optimizer(net, paddle, tmp_path):
    optax = pytest.importorskip("optax")
    net.eval()
    transformation = optax.chain(optax.clip_by_global_norm(0.5), optax.adamw(0.05, weight_decay=0.1))
    optimizer = paddle.interop.OptaxOptimizer(transformation, net.parameters())
    trained = [p for p in net.parameters() if not p.stop_gradient]
    values = [p.numpy() for p in trained]
    state = transformation.init(values)
    for i in range(12):
        net(paddle.to_tensor(X * i)).square().mean().backward()
        grads = [p.grad.numpy() for p in trained]
        optimizer.step()
        optimizer.clear_grad()
        updates, state = transformation.update(grads, state, values)
        values = optax.apply_updates(values, updates)
        if i == 5:
            paddle.save(optimizer.state_dict(), str(tmp_path / "state.pdopt"))
            optimizer = paddle.interop.OptaxOptimizer(transformation, net.parameters())
            optimizer.set_state_dict(paddle.load(str(tmp_path / "state.pdopt")))
    for p, value in zip(trained, values, strict=True):
        np.testing.assert_allclose(p.numpy(), value, rtol=2e-4, atol=1e-6)
    with pytest.raises(ValueError, match="nothing"):
        optimizer.set_state_dict({})
    with pytest.raises(TypeError, match="GradientTransformation"):
        paddle.interop.OptaxOptimizer("adam", net.parameters())


def test_optax_with_a_scheduler(paddle):
    optax = pytest.importorskip("optax")
    weight = paddle.nn.Linear(1, 1, bias_attr=False).weight
    scheduler = paddle.optimizer.lr.StepDecay(0.5, 1, gamma=0.1)
    optimizer = paddle.interop.OptaxOptimizer(optax.identity(), [weight], learning_rate=scheduler)
    for lr in (0.5, 0.05):
        before = weight.item()
        (weight * 2).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
        scheduler.step()
        np.testing.assert_allclose(before - weight.item(), 2 * lr, rtol=1e-4)


@pytest.mark.skipif(importlib.util.find_spec("flax") is None, reason="not installed: flax")
def test_flax_modules(paddle):
    from flax import nnx

    x, net = (
        paddle.to_tensor(X, stop_gradient=False),
        paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4)),
    )
    module = nnx.Sequential(
        nnx.Linear(3, 4, rngs=nnx.Rngs(0)),
        nnx.BatchNorm(4, rngs=nnx.Rngs(0)),
        nnx.Dropout(0.5, rngs=nnx.Rngs(1)),
    )
    layer = paddle.interop.FlaxLayer(module)
    names = dict(layer.named_parameters())
    assert list(names) == ["layers_0_bias", "layers_0_kernel", "layers_1_bias", "layers_1_scale"]
    one, two = layer(x), layer(x)
    assert not np.array_equal(one.numpy() == 0, two.numpy() == 0)  # its random stream goes on
    one.sum().backward()
    assert x.grad.shape == [4, 3] and all(p.grad is not None for p in layer.parameters())
    layer.eval()
    module.train()
    module(jnp.asarray(X))
    module(jnp.asarray(X))
    module.eval()
    np.testing.assert_allclose(layer(x).numpy(), module(jnp.asarray(X)), rtol=1e-5, atol=1e-6)
    second = paddle.grad(paddle.grad(layer(x).square().sum(), x, create_graph=True)[0].square().sum(), x)[0]
    assert np.isfinite(second.numpy()).all() and second.numpy().any()
    with pytest.raises(TypeError, match=r"nnx\.Module"):
        paddle.interop.FlaxLayer(net)

    made = paddle.interop.to_nnx(net)
    np.testing.assert_allclose(made(jnp.asarray(X)), net(x).numpy(), rtol=1e-5)
    np.testing.assert_allclose(made.stats["1._mean"][...], net[1]._mean.numpy(), rtol=1e-5)
    made.eval()
    net.eval()
    np.testing.assert_allclose(nnx.jit(lambda m, x: m(x))(made, jnp.asarray(X)), net(x).numpy(), rtol=1e-5)
    with pytest.raises(TypeError, match="Layer"):
        paddle.interop.to_nnx(3)
