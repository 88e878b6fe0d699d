"""Segments that come again and again and are not compiled yet.

Unit tests of `_core.runner.joined_plans`.
"""

import operator

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax._core.runner import joined_plans


class Tagger(paddle.nn.Layer):
    """A recurrent network, whose loops are interpreted with their gradients."""

    def __init__(self, width):
        super().__init__()
        self.lookup = paddle.nn.Embedding(7, 4)
        self.encoder = paddle.nn.GRU(4, width, direction="bidirect")
        self.out = paddle.nn.Linear(2 * width, 2)

    def forward(self, words):
        states, _ = self.encoder(self.lookup(words))
        return self.out(paddle.tanh(states)).mean(1)


def losses_of(mode, width, steps=6):
    """Each test has a width of its own: the steps of another test may be compiled already."""
    before = paddle.get_flags("FLAGS_deferred")
    paddle.set_flags({"FLAGS_deferred": mode})
    try:
        paddle.seed(0)
        net = Tagger(width)
        adam = paddle.optimizer.Adam(0.05, parameters=net.parameters())
        found = []
        for step in range(steps):
            words = paddle.to_tensor(np.random.default_rng(step).integers(0, 7, (2, 5)))
            loss = paddle.nn.functional.cross_entropy(net(words), paddle.to_tensor([0, 1]))
            loss.backward()
            adam.step()
            adam.clear_grad()
            found.append(float(loss))
        return [*found, *net.lookup.weight.numpy().ravel()]
    finally:
        paddle.set_flags(before)


@pytest.fixture
def runs(monkeypatch):
    """The results of the plans that ran."""
    found = []
    run = joined_plans.RecurringPlan.run

    def noted(self, *arguments):
        found.append(run(self, *arguments))
        return found[-1]

    monkeypatch.setattr(joined_plans.RecurringPlan, "run", noted)
    return found


def test_a_recurrent_network_learns_alike(runs):
    np.testing.assert_allclose(losses_of("sync", 3), losses_of("off", 3), rtol=2e-5, atol=1e-6)
    assert runs and None not in runs


def test_a_step_that_fails_runs_as_usual(monkeypatch):
    joined_plans._Cache.plans.clear()
    # It raises TypeError for what it is called with, as an operation may.
    monkeypatch.setattr(joined_plans.RecurringPlan, "run", operator.floordiv)
    np.testing.assert_allclose(losses_of("sync", 4), losses_of("off", 4), rtol=2e-5, atol=1e-6)
    # They have been tried, and are not tried again.
    assert set(joined_plans._Cache.plans.values()) == {None}


def test_what_is_read_between_keeps_its_value(runs):
    x = paddle.to_tensor(np.linspace(-1, 1, 40, dtype=np.float32).reshape(4, 10))
    for run in range(6):
        hidden = [x + run]
        for _ in range(20):
            hidden.append(paddle.sin(hidden[-1]) * 1.5 + x)
        wanted = np.asarray(x.numpy() + run)
        hidden[-1].numpy()
        for value in hidden[1:]:
            wanted = np.sin(wanted) * np.float32(1.5) + x.numpy()
            np.testing.assert_allclose(value.numpy(), wanted, rtol=1e-4, atol=1e-5)
    assert runs


def test_a_lack_of_memory_is_named_as_usual(monkeypatch):
    """The operations run one by one then, and a message would name the one at fault."""
    x = paddle.to_tensor(np.linspace(-1, 1, 40, dtype=np.float32))

    def values():
        hidden = [x]
        for _ in range(20):
            hidden.append(paddle.sin(hidden[-1]) * 1.5 + x)
        return hidden[-1].numpy()

    wanted = values()
    calls = []

    def fails(*arguments):
        calls.append(arguments)
        raise MemoryError

    monkeypatch.setattr(joined_plans.JoinedOps, "run", fails)
    for _ in range(3):
        np.testing.assert_allclose(values(), wanted, rtol=1e-5)
    assert calls


def test_what_is_not_needed_any_more_is_dropped(monkeypatch):
    plans = []
    held = []
    run = joined_plans.RecurringPlan.run
    run_part = joined_plans.JoinedOps.run

    def noted(self, *arguments):
        plans.append(self)
        return run(self, *arguments)

    def noted_part(self, leaves, env):
        if plans and self is plans[-1].parts[-1][0]:
            held.append(set(env) - set(self.operands) - set(plans[-1].wanted))
        return run_part(self, leaves, env)

    monkeypatch.setattr(joined_plans.RecurringPlan, "run", noted)
    monkeypatch.setattr(joined_plans.JoinedOps, "run", noted_part)
    losses_of("sync", 5)
    assert any(len(plan.parts) > 2 for plan in plans)
    assert held and not any(held)
