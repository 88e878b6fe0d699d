"""Loops that run once for an operation and its gradient, in the interpreter.

Unit tests of `_core.runner.loop_pairs`.
"""

import numpy as np
import pytest

import paddle_jax
from paddle_jax._core.runner import loop_pairs
from tests.deferred import differential

nn = paddle_jax.nn
LAYERS = {
    "lstm": lambda: nn.LSTM(3, 4),
    "lstm both ways, two layers": lambda: nn.LSTM(3, 4, num_layers=2, direction="bidirect"),
    "gru": lambda: nn.GRU(3, 4),
}


def steps(layer, x, count=4):
    """Losses and gradients of some equal steps."""
    found = []
    for _ in range(count):
        out, _ = layer(x)
        loss = (out * out).sum() + out[:, -1].sum()
        loss.backward()
        found.append([loss.numpy()] + [p.grad.numpy() for p in layer.parameters()] + [x.grad.numpy()])
        layer.clear_gradients()
        x.clear_gradient()
    return found


@pytest.fixture
def runs(monkeypatch):
    """The names of the parts that ran, in order."""
    names = []
    for name in ("run_loop", "run_gradient"):
        original = getattr(loop_pairs._Run, name)

        def run(self, operands, name=name, original=original):
            names.append((name, self.kept is not None))
            return original(self, operands)

        monkeypatch.setattr(loop_pairs._Run, name, run)
    loop_pairs._plans_of.cache_clear()
    return names


def make(name):
    paddle_jax.seed(7)
    layer = LAYERS[name]()
    x = paddle_jax.to_tensor(np.linspace(-1, 1, 30).reshape(2, 5, 3).astype("float32"))
    x.stop_gradient = False
    return layer, x


@pytest.mark.parametrize("name", LAYERS)
def test_as_the_operations_alone(runs, name):
    with differential.tier(paddle_jax, deferred="off"):
        want = steps(*make(name), count=1)[0]
    with differential.tier(paddle_jax, deferred="sync", deferred_min_repeats=1000, interpreter=True):
        found = steps(*make(name))
    assert ("run_loop", False) in runs and ("run_gradient", True) in runs
    for step in found:
        for ours, alone in zip(step, want, strict=True):
            np.testing.assert_allclose(ours, alone, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", ["gru", "lstm"])
def test_lengths_that_change(runs, name):
    """No segment comes again. A loop runs with its gradient once templates give the equations of both."""
    lengths = [4, 7, 9, 6]

    def train():
        layer, _ = make(name)
        optimizer = paddle_jax.optimizer.SGD(0.1, parameters=layer.parameters())
        found = []
        for n in lengths:
            x = paddle_jax.to_tensor(np.linspace(-1, 1, 6 * n).reshape(2, n, 3).astype("float32"))
            x.stop_gradient = False
            found += steps(layer, x, count=1)
            optimizer.step()
        return found

    with differential.tier(paddle_jax, deferred="off"):
        want = train()
    assert not runs
    with differential.tier(paddle_jax, deferred="sync", deferred_min_repeats=1000, interpreter=True):
        found = train()
    assert runs.count(("run_gradient", True)) >= 1
    for step, alone in zip(found, want, strict=True):
        for ours, value in zip(step, alone, strict=True):
            np.testing.assert_allclose(ours, value, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("part", ["loop", "gradient"])
def test_an_error_in_a_part_runs_the_operations_alone(runs, monkeypatch, part):
    def fail(self, operands):
        raise MemoryError

    layer, x = make("lstm")
    with differential.tier(paddle_jax, deferred="sync", deferred_min_repeats=1000, interpreter=True):
        # Nodes of the first step keep operands that those of later steps let go of, so the second one is new.
        first = steps(layer, x, count=3)
        plans = loop_pairs._plans_of
        assert plans.cache_info().currsize == 1
        monkeypatch.setattr(loop_pairs, "_plans_of", lambda *pair: with_part(plans(*pair), part, fail))
        found = steps(layer, x)
    for step in found:
        for ours, before in zip(step, first[0], strict=True):
            np.testing.assert_allclose(ours, before, rtol=2e-5, atol=2e-6)


def with_part(plans, part, run):
    """The plans, with another function for one of them."""
    setattr(plans, part, type("Part", (), {"quietly": run})())
    return plans
