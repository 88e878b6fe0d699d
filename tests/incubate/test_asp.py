"""Pruning against the real Paddle; optimizers that keep it, whose counterparts raise in Paddle 3.3.1, by
what they promise."""

import itertools

import numpy as np
import pytest

from tests.nn.scripts import same

A = [
    "import importlib",
    "asp = importlib.import_module(paddle.__name__ + '.incubate.asp')",
    "r = np.random.RandomState(3)",
    "m = np.array([[1.0, -3, 2, 0.5, 6, 1.5, 0.1, 2.5], [0, 1, 2, 3, -4, 5, 6, 7]])",
    "rand = lambda *s: np.abs(r.randn(*s))",
]
SCRIPTS = {
    "masks": [
        *A,
        *[
            f"asp.{call}"
            for call in (
                "get_mask_1d(m, 2, 4)",
                "get_mask_1d(m[:, :5], 1, 4)",
                "get_mask_1d(m, 3, 4)",
                "get_mask_1d(np.ones((2, 4)), 2, 4)",
                "get_mask_1d(np.ones(4), 2, 4)",
                "get_mask_2d_greedy(r.randn(4, 8), 2, 4)",
                "get_mask_2d_greedy(r.randn(6, 7), 2, 4)",
                "get_mask_2d_greedy(r.randn(5, 5), 1, 2)",
                "get_mask_2d_best(rand(4, 8), 2, 4)",
                "get_mask_2d_best(rand(6, 7), 2, 4)",
                "get_mask_2d_best(rand(4, 4), 1, 4)",
                "calculate_density(m)",
                "check_mask_1d(m, 2, 4)",
                "check_mask_1d(m * asp.get_mask_1d(m, 2, 4), 2, 4)",
                "check_mask_1d(np.ones((3, 5)), 2, 4)",
                "check_mask_1d(np.array([[0, 0, 1, 1, 5.0]]), 2, 4)",
                "check_mask_2d(np.ones((4, 4)), 2, 4)",
                "check_mask_2d(np.zeros((3, 5)), 2, 4)",
                "check_mask_2d(np.eye(4), 3, 4)",
                "create_mask(m)",
                "create_mask(m, asp.MaskAlgo.MASK_2D_GREEDY)",
                "create_mask(m[0])",
                "create_mask(r.randn(2, 4, 8))",
                "create_mask(r.randn(8, 4, 4, 3))",
                "create_mask(r.randn(3, 4, 2, 2))",
                "create_mask(m.astype('float32')).dtype.name",
                "create_mask(m, 'a')",
                "create_mask(np.ones([2] * 5))",
                "check_sparsity(m)",
                "check_sparsity(m * asp.create_mask(m))",
                "check_sparsity(m, 'a')",
                "check_sparsity(np.zeros((3, 5)), asp.CheckMethod.CHECK_2D)",
                "CheckMethod.get_checking_method(asp.MaskAlgo.MASK_2D_BEST).name",
                "CheckMethod.get_checking_method(asp.MaskAlgo.MASK_1D).name",
                "CheckMethod.get_checking_method(3)",
            )
        ],
    ],
    "networks": [
        *A,
        (
            "wave = lambda p, i: p.set_value(np.cos(np.arange(p.size) * 1.7 + "
            "i).reshape(p.shape).astype('float32'))"
        ),
        (
            "make = lambda: nn.Sequential(nn.Linear(8, 16), nn.Linear(16, 4), nn.Conv2D(4, 4, 3), "
            "nn.LayerNorm(4), nn.Linear(3, 2), nn.Conv2D(3, 4, 3), nn.Linear(6, 3), nn.Embedding(4, 4))"
        ),
        "fill = lambda net: [wave(p, i) for i, p in enumerate(net.parameters())] and net",
        *[
            line
            for options in ("", ", mask_algo='mask_2d_greedy'", ", n=1, m=4")
            for line in (
                "net = fill(make())",
                f"found = asp.prune_model(net{options}, with_mask=False)",
                "[p.numpy() for p in net.parameters()]",
                "[found[p.name] for p in net.parameters() if p.name in found]",
            )
        ],
        "net = fill(make())",
        "asp.set_excluded_layers([net[0].full_name(), net[1].weight.name])",
        "found = asp.prune_model(net, with_mask=False)",
        "[asp.calculate_density(p.numpy()) for p in net.parameters()]",
        "asp.reset_excluded_layers()",
        "asp.prune_model(net, mask_algo='a', with_mask=False)",
        "asp.prune_model(net, n=4, m=2, with_mask=False)",
        "asp.prune_model(net)",
        "asp.prune_model(3)",
        "asp.decorate(3)",
        "asp.add_supported_layer(3)",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.filterwarnings("ignore")
def test_behaves_alike(script, oracle, paddle):
    same(script, oracle, paddle)


def test_the_best_mask_is_the_best(paddle):
    mat = np.random.RandomState(1).randn(3, 3)
    permutations = [np.eye(3)[list(order)] for order in itertools.permutations(range(3))]
    best = max(permutations, key=lambda mask: (np.abs(mat) * mask).sum())
    np.testing.assert_array_equal(paddle.incubate.asp.get_mask_2d_best(mat, 1, 3), best)


@pytest.mark.parametrize("compiled", [True, False])
def test_training_keeps_what_was_pruned(paddle, compiled):
    asp = paddle.incubate.asp
    net = paddle.nn.Sequential(paddle.nn.Linear(8, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 4))
    optimizer = asp.decorate(paddle.optimizer.Momentum(0.1, parameters=net.parameters()))
    masks = asp.prune_model(net)
    assert set(masks) == {net[0].weight.name, net[2].weight.name}
    before = net[0].weight.numpy()

    def step(x):
        net(x).square().sum().backward()
        optimizer.step()
        optimizer.clear_grad()

    run = paddle.jit.to_static(step) if compiled else step
    for _ in range(3):
        run(paddle.rand([4, 8]))
    after = net[0].weight.numpy()
    assert asp.check_sparsity(after.T) and asp.check_sparsity(net[2].weight.numpy().T)
    np.testing.assert_array_equal(after[masks[net[0].weight.name].numpy() == 0], 0.0)
    assert np.abs(after - before)[before != 0].max() > 0 and (net[0].bias.numpy() != 0).any()
    assert optimizer.get_lr() == 0.1

    fresh = paddle.nn.Sequential(paddle.nn.Linear(8, 16), paddle.nn.ReLU(), paddle.nn.Linear(16, 4))
    for one, other in zip(fresh.parameters(), net.parameters(), strict=True):
        one.set_value(other)
        one.name = other.name
    again = asp.decorate(paddle.optimizer.Momentum(0.1, parameters=fresh.parameters()))
    again.set_state_dict(optimizer.state_dict())
    fresh(paddle.rand([4, 8])).square().sum().backward()
    again.step()
    assert asp.check_sparsity(fresh[0].weight.numpy().T)


def test_layers_of_ones_own(paddle):
    asp = paddle.incubate.asp

    class MyScale(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.weight = self.create_parameter([4, 4])

    def pruned(weight, m, n, algorithm, name):
        seen.append((weight.shape, m, n, algorithm, name))
        return weight * 0, np.zeros_like(weight)

    seen, layer = [], MyScale()
    assert asp.prune_model(layer, with_mask=False) == {}
    asp.add_supported_layer(MyScale, pruned)
    assert (
        list(asp.prune_model(layer, with_mask=False)) == [layer.weight.name] and not layer.weight.any().item()
    )
    assert seen == [((4, 4), 4, 2, asp.MaskAlgo.MASK_1D, layer.weight.name)]
