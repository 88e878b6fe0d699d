"""L-BFGS against the real Paddle and against what a minimum is."""

import numpy as np
import pytest

import paddle_jax as ours
from paddle_jax.framework.io import load, save
from paddle_jax.optimizer import lbfgs, lbfgs_vectors
from paddle_jax.optimizer.line_search import Point, strong_wolfe

oracle = pytest.importorskip("paddle")
START = np.array([-1.5, 2.0], "float32")


def problem(module, dtype="float32", **settings):
    param = module.create_parameter([2], dtype)
    param.set_value(START.astype(dtype))
    optimizer = module.optimizer.LBFGS(parameters=[param], **settings)
    calls = []

    def closure():
        optimizer.clear_grad()
        loss = (1 - param[0]) ** 2 + 5 * (param[1] - param[0] ** 2) ** 2
        loss.backward()
        calls.append(loss.item())
        return loss

    return param, optimizer, closure, calls


@pytest.fixture(params=["host", "device"])
def vectors(request, monkeypatch):
    """The arithmetic of a CPU, and that of other devices."""
    if request.param == "device":
        monkeypatch.setattr(lbfgs, "are_on_host", lambda params: False)


SETTINGS = [
    {},
    {"max_iter": 3},
    {"max_eval": 3},
    {"learning_rate": 0.1, "max_iter": 8},
    {"history_size": 2, "max_iter": 6},
    {"tolerance_grad": 1.0},
]


@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_same_path_without_search(settings):
    runs = []
    for module in (ours, oracle):
        param, optimizer, closure, calls = problem(module, "float64", **settings)
        first = optimizer.step(closure)
        runs.append((first.item(), calls, param.numpy()))
    assert len(runs[0][1]) == len(runs[1][1])
    np.testing.assert_allclose(runs[0][0], runs[1][0], rtol=1e-6)
    np.testing.assert_allclose(runs[0][1], runs[1][1], rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(runs[0][2], runs[1][2], rtol=1e-4)


@pytest.mark.usefixtures("vectors")
def test_strong_wolfe_finds_the_minimum():
    counts = []
    for module in (ours, oracle):
        param, optimizer, closure, calls = problem(module, line_search_fn="strong_wolfe")
        optimizer.step(closure)
        np.testing.assert_allclose(param.numpy(), [1.0, 1.0], atol=2e-3)
        counts.append(len(calls))
    assert counts[0] <= counts[1] + 5, "not many more evaluations than Paddle needs"


def test_every_step_of_the_search_lowers_the_loss():
    param, optimizer, closure, calls = problem(ours, "float64", line_search_fn="strong_wolfe", max_iter=1)
    losses = [optimizer.step(closure).item() for _ in range(25)]
    assert all(b <= a for a, b in zip(losses, losses[1:], strict=False)) and losses[-1] < 1e-6


@pytest.mark.parametrize(
    "start", [START, np.array([1.0, 1.0], "float32"), np.array([1.0 + 1e-7, 1.0], "float32")], ids=str
)
def test_search_without_tolerance(start):
    """Nothing ends the search but two points that are one: no error, and nothing that is
    worse than the start."""
    param, optimizer, closure, calls = problem(
        ours, line_search_fn="strong_wolfe", tolerance_change=0, tolerance_grad=0, max_iter=100, max_eval=1000
    )
    param.set_value(start)
    optimizer.step(closure)
    assert closure().item() <= calls[0]
    assert np.isfinite(param.numpy()).all()


def test_two_points_that_are_one():
    at = lambda length: Point(length, 1.0 + length, None, 1.0, 1.0)  # noqa: E731  a loss that only rises
    point, used = strong_wolfe(at, 0.0, Point(0.0, 1.0, None, -1.0, 1.0), reach=1.0, tolerance=0)
    assert (point.length, point.loss) == (0.0, 1.0)
    assert used <= 26


@pytest.mark.usefixtures("vectors")
def test_old_steps_are_forgotten():
    """A history of three gives Paddle's path, however many steps there were."""
    runs = []
    for module in (ours, oracle):
        param, optimizer, closure, calls = problem(
            module, "float64", history_size=3, max_iter=15, learning_rate=0.2
        )
        optimizer.step(closure)
        state = optimizer.state_dict()["state"]
        runs.append((calls, [np.asarray(v) for key in ("old_sk", "old_yk", "ro") for v in state[key]]))
    assert len(runs[0][0]) == len(runs[1][0])
    np.testing.assert_allclose(runs[0][0], runs[1][0], rtol=1e-6)
    for a, b in zip(runs[0][1], runs[1][1], strict=True):
        np.testing.assert_allclose(a.ravel(), b.ravel(), rtol=1e-5)


def test_a_history_that_grows(monkeypatch):
    """Rooms of two rows at first, and of all: the same run."""
    paths = []
    for rows in (2, 100):
        monkeypatch.setattr(lbfgs, "are_on_host", lambda params: False)
        monkeypatch.setattr(lbfgs_vectors, "_FIRST_ROWS", rows)
        monkeypatch.setattr(lbfgs_vectors, "_FIRST_ELEMENTS", 0)
        param, optimizer, closure, calls = problem(ours, "float64", max_iter=12, learning_rate=0.2)
        optimizer.step(closure)
        paths.append(calls)
    np.testing.assert_allclose(*paths, rtol=1e-9)


@pytest.mark.usefixtures("vectors")
def test_state(tmp_path):
    """A run that goes through a file is the run that does not."""
    whole, optimizer, closure, _ = problem(ours, "float64", max_iter=4)
    for _ in range(3):
        optimizer.step(closure)
    part, first, closure, _ = problem(ours, "float64", max_iter=4)
    first.step(closure)
    save(first.state_dict(), str(tmp_path / "x"))
    other, second, closure, _ = problem(ours, "float64", max_iter=4)
    other.set_value(part)
    second.set_state_dict(load(str(tmp_path / "x")))
    for _ in range(2):
        second.step(closure)
    np.testing.assert_allclose(other.numpy(), whole.numpy(), rtol=1e-9)
    theirs = problem(oracle, max_iter=4)
    theirs[1].step(theirs[2])
    assert set(first.state_dict()["state"]) == set(theirs[1].state_dict()["state"]) - {"al"}


@pytest.mark.parametrize("given", [{}, {"of": "another"}])
def test_a_state_of_others_changes_nothing(given):
    _, optimizer, closure, _ = problem(ours, max_iter=2)
    optimizer.step(closure)
    before = optimizer.state_dict()["state"]["n_iter"]
    assert optimizer.set_state_dict(given) is None
    assert optimizer.state_dict()["state"]["n_iter"] == before


def test_errors():
    for call in (
        lambda o, c: o.minimize(c()),
        lambda o, c: o.step(),
        lambda o, c: (setattr(o, "line_search_fn", "x"), o.step(c)),
    ):
        errors = []
        for module in (ours, oracle):
            _, optimizer, closure, _ = problem(module)
            with pytest.raises(Exception) as error:  # noqa: PT011
                call(optimizer, closure)
            errors.append(error.type)
        assert errors[0] is errors[1]
    with pytest.warns(UserWarning, match="no effect"):
        problem(ours, weight_decay=0.1)


class Stop(Exception):
    """What a closure raises."""


def stopping(closure, at):
    """A closure that raises at one of its calls."""
    count = [0]

    def stops():
        count[0] += 1
        if count[0] == at:
            raise Stop
        return closure()

    return stops


@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_an_exception_of_the_closure_leaves_a_complete_iteration(search):
    """Parameters and state are those after some iteration, and the minimum is still found."""
    settings = {"line_search_fn": search, "learning_rate": 0.5, "tolerance_change": 1e-14}
    param, optimizer, closure, _ = problem(ours, "float64", max_iter=1, **settings)
    iterates = [param.numpy()]
    for _ in range(12):
        optimizer.step(closure)
        iterates.append(param.numpy())
    for at in range(1, 12):
        param, optimizer, closure, _ = problem(ours, "float64", max_iter=8, **settings)
        stops, stopped = stopping(closure, at), 0
        for _ in range(10):
            try:
                optimizer.step(stops)
            except Stop:
                stopped += 1
                number = optimizer.state_dict()["state"].get("n_iter", 0)
                np.testing.assert_allclose(param.numpy(), iterates[number], rtol=1e-6)
        assert stopped == 1
        np.testing.assert_allclose(param.numpy(), 1.0, atol=1e-3)


def test_frozen_parameters_stay():
    for module in (oracle, ours):
        param, optimizer, _, _ = problem(module)
        param.stop_gradient = True
        assert float(optimizer.step(lambda module=module: module.full([1], 3.0))) == 3.0
        np.testing.assert_array_equal(param.numpy(), START)


def test_a_history_moves_with_the_parameters(monkeypatch):
    """The parameters are on another device from the second step on."""
    paths = []
    for moves in (False, True):
        param, optimizer, closure, calls = problem(ours, "float64", max_iter=4, learning_rate=0.2)
        optimizer.step(closure)
        if moves:
            monkeypatch.setattr(lbfgs, "are_on_host", lambda params: False)
        optimizer.step(closure)
        paths.append(calls)
    np.testing.assert_allclose(*paths, rtol=1e-9)


def test_a_step_on_a_cpu_compiles_nothing():
    net = ours.nn.Sequential(ours.nn.Linear(3, 7), ours.nn.Tanh(), ours.nn.Linear(7, 1))
    x = ours.to_tensor(np.linspace(-1, 1, 15, dtype="float32").reshape(5, 3))
    optimizer = ours.optimizer.LBFGS(max_iter=3, line_search_fn="strong_wolfe", parameters=net.parameters())

    def closure():
        optimizer.clear_grad()
        loss = ((net(x) - 1) ** 2).mean()
        loss.backward()
        return loss

    compiled = ours.metrics.snapshot()["compile"]
    first = optimizer.step(closure)
    assert closure().item() < first.item()
    assert ours.metrics.snapshot()["compile"] == compiled
