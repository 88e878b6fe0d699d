"""Mixtures of experts: the gates against formulas in NumPy and the real Paddle where it has them, the layer
against the sum over experts."""

import importlib
import inspect
import math

import numpy as np
import pytest

from tests.incubate import references as R

D, EXPERTS, TOKENS = 4, 3, 10


def moe(engine):
    return importlib.import_module(f"{engine.__name__}.incubate.distributed.models.moe")


def numbers(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype("float32")


def largest(scores, k):
    at = np.argsort(-scores, 1, kind="stable")[:, :k]
    return np.take_along_axis(scores, at, 1), at


def limited(chosen, capacity):
    seen, out = {}, chosen.copy().reshape(-1)
    for i, e in enumerate(out):
        seen[e] = seen.get(e, 0) + 1
        out[i] = e if seen[e] <= capacity else -1
    return out.reshape(chosen.shape)


def test_naive_gate(paddle, oracle):
    gates = [moe(engine).NaiveGate(D, EXPERTS, 1) for engine in (paddle, oracle)]
    gates[1].gate.set_state_dict({k: v.numpy() for k, v in gates[0].gate.state_dict().items()})
    assert (
        all(g.gate.weight.name.startswith("gate_linear") for g in gates)
        and gates[0].get_loss() is gates[1].get_loss() is None
    )
    for ours, theirs in zip(
        *(
            gate(engine.to_tensor(numbers(TOKENS, D)), True)
            for gate, engine in zip(gates, (paddle, oracle), strict=True)
        ),
        strict=True,
    ):
        np.testing.assert_allclose(ours, theirs.numpy(), 1e-5, 1e-6)


@pytest.mark.parametrize("training", [True, False])
def test_gshard_gate(paddle, training):
    """Two choices, of which an expert takes its capacity; the loss."""
    gate = moe(paddle).GShardGate(D, EXPERTS, 1, capacity=(0.35, 0.5), random_routing=False)
    gate.train() if training else gate.eval()
    x = numbers(TOKENS, D)
    scores = x @ gate.gate.weight.numpy() + gate.gate.bias.numpy()
    value, chosen = largest(scores, 2)
    got, number = gate(paddle.to_tensor(x))
    np.testing.assert_allclose(got, value, 1e-5, 1e-6)
    np.testing.assert_array_equal(number, limited(chosen, math.ceil((0.35 if training else 0.5) * TOKENS)))
    often = np.bincount(chosen.reshape(-1), minlength=EXPERTS) / TOKENS
    np.testing.assert_allclose(gate.get_loss(), (often * R.softmax(scores).mean(0)).mean() * EXPERTS**2, 1e-5)
    assert gate.get_loss() is None


def test_gshard_routing_by_chance(paddle):
    """The second choice is kept with the probability of twice its score; the first always."""
    gate = moe(paddle).GShardGate(D, EXPERTS, 1)
    gate.gate.weight.set_value(np.zeros((D, EXPERTS), "float32"))
    gate.gate.bias.set_value(np.array([0.9, 0.2, 0.0], "float32"))
    _, number = gate(paddle.ones([4000, D]))
    assert (number.numpy()[:, 0] == 0).all() and set(number.numpy()[:, 1].tolist()) == {-1, 1}
    np.testing.assert_allclose((number.numpy()[:, 1] == 1).mean(), 0.4, atol=0.04)


def test_switch_gate(paddle):
    gate, x = moe(paddle).SwitchGate(D, EXPERTS, 1, capacity=(0.3, 0.4)), numbers(TOKENS, D)
    scores = R.softmax(x @ gate.gate.weight.numpy() + gate.gate.bias.numpy())
    value, chosen = largest(scores, 1)
    gate.eval()
    got, number = gate(paddle.to_tensor(x))
    wanted = limited(chosen, 4)
    np.testing.assert_allclose(got, value, 1e-5)
    np.testing.assert_array_equal(number, wanted)
    taken = np.bincount(wanted[wanted >= 0], minlength=EXPERTS)
    count = taken.sum()
    np.testing.assert_allclose(gate.get_loss(), (taken / count * scores.sum(0) / count).sum() * EXPERTS, 1e-5)
    noisy = [gate.train()(paddle.to_tensor(x))[0].numpy() for _ in range(2)]
    assert abs(noisy[0] - noisy[1]).max() > 0
    logits = np.log(value / scores.min(1, keepdims=True))
    assert abs(np.log(noisy[0] / value)).max() < 0.3 * max(1.0, abs(logits).max())


@pytest.mark.parametrize(
    "options",
    [
        {"type": "naive", "top_k": 2},
        {"type": "naive", "top_k": 1},
        {"type": "gshard"},
        {"type": "switch", "top_k": 1},
    ],
)
@pytest.mark.parametrize("again", [0, 1])
def test_layer(paddle, options, again):
    """The sum over experts of value times result, with gradients of tokens, experts and gate;
    compiled it is the same."""
    experts = paddle.nn.LayerList(
        [
            paddle.nn.Sequential(paddle.nn.Linear(D, 6), paddle.nn.Tanh(), paddle.nn.Linear(6, D))
            for _ in range(EXPERTS)
        ]
    )
    layer = moe(paddle).MoELayer(D, experts, gate=options, recompute_interval=again)
    layer.eval()
    if options["type"] == "gshard":
        layer.gate.random_routing = False
    x = paddle.to_tensor(numbers(2, 5, D), stop_gradient=False)
    value, number = (t.reshape([TOKENS, -1]) for t in layer.gate(x.reshape([-1, D])))
    rows = x.reshape([-1, D])
    each = paddle.stack([e(rows) for e in experts], 1)
    weights = sum(
        paddle.nn.functional.one_hot(number[:, j], EXPERTS) * value[:, j : j + 1] for j in range(layer.top_k)
    )
    wanted = (each * weights.unsqueeze(-1)).sum(1).reshape(x.shape)
    leaves = [x, experts[0][0].weight, experts[2][2].bias, layer.gate.gate.weight]

    def grads(result):
        (result**2).sum().backward()
        found = [leaf.grad.numpy() for leaf in leaves]
        for leaf in leaves:
            leaf.clear_grad()
        return found

    wanted, truth = wanted.numpy(), grads(wanted)
    for call in (layer, paddle.jit.to_static(lambda x: layer(x), full_graph=True)):
        got = call(x)
        np.testing.assert_allclose(got, wanted, 1e-4, 1e-5)
        for found, right in zip(grads(got), truth, strict=True):
            np.testing.assert_allclose(found, right, 1e-3, 1e-4)


def test_training(paddle):
    """A regression by experts learns, with the loss of the gate and the norm of gradients limited."""
    paddle.seed(0)
    x = paddle.to_tensor(numbers(4, 16, D))
    y = paddle.abs(x)
    layer = moe(paddle).MoELayer(D, paddle.nn.LayerList([paddle.nn.Linear(D, D) for _ in range(4)]))
    clip = moe(paddle).ClipGradForMOEByGlobalNorm(1.0)
    optimizer = paddle.optimizer.Adam(0.02, parameters=layer.parameters(), grad_clip=clip)
    losses = []
    for _ in range(60):
        loss = ((layer(x) - y) ** 2).mean()
        (loss + 0.01 * layer.gate.get_loss()).backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    assert np.mean(losses[-5:]) < 0.5 * losses[0]


def test_norm_of_gradients(paddle, oracle):
    for engine in (paddle, oracle):
        clip = moe(engine).ClipGradForMOEByGlobalNorm(5.0)
        assert str(clip) == "Gradient Clip By GlobalNorm, global_norm=5.000000" and moe(
            engine
        ).ClipGradByGlobalNorm is type(clip)
        pairs = [
            (engine.nn.Linear(2, 2).weight, engine.to_tensor(numbers(2, 2, seed=s) * 9)) for s in range(2)
        ]
        total = sum((g.numpy() ** 2).sum() for _, g in pairs)
        found, kind = clip.get_l2_norm_pow(pairs)
        np.testing.assert_allclose(float(found), total, 1e-5)
        assert kind == "float32" and clip.get_l2_norm_pow([(pairs[0][0], None)]) == (None, None)
        wanted = [g.numpy() * 5 / np.sqrt(total) for _, g in pairs]
        np.testing.assert_allclose([g.numpy() for _, g in clip(pairs)], wanted, 1e-5)


def test_norm_of_float64_gradients(paddle, oracle):
    values = np.array([1.0, 1e-5, 1 / 3])
    for engine in (paddle, oracle):
        pairs = [(engine.nn.Linear(2, 2).weight, engine.to_tensor(values))]
        found, kind = moe(engine).ClipGradForMOEByGlobalNorm(5.0).get_l2_norm_pow(pairs)
        assert kind == "float64"
        np.testing.assert_allclose(float(found), (values**2).sum(), 1e-14)


@pytest.mark.parametrize(
    "name", ["MoELayer", "NaiveGate", "GShardGate", "SwitchGate", "BaseGate", "ClipGradForMOEByGlobalNorm"]
)
def test_signatures(paddle, oracle, name):
    ours, theirs = (inspect.signature(getattr(moe(engine), name)) for engine in (paddle, oracle))
    assert [(p.name, p.default) for p in ours.parameters.values()] == [
        (p.name, p.default) for p in theirs.parameters.values()
    ]


def test_refusals(paddle):
    m, experts = moe(paddle), paddle.nn.LayerList([paddle.nn.Linear(D, D)])
    for call, kind in (
        (lambda: m.MoELayer(D, experts, gate={"type": "x"}), AssertionError),
        (lambda: m.MoELayer(D, experts, gate=3), AssertionError),
        (lambda: m.MoELayer(D, experts, gate=m.BaseGate(1, 1)), TypeError),
        (lambda: m.GShardGate(D, 2, 1, topk=1), AssertionError),
        (lambda: m.SwitchGate(D, 2, 1, topk=2), AssertionError),
        (
            lambda: m.MoELayer(D, experts, gate={"type": "naive", "top_k": 1})(paddle.ones([2, D])),
            AssertionError,
        ),
    ):
        with pytest.raises(kind):
            call()
