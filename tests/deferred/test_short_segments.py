"""Segments of a few small operations, read again and again.

Unit tests of `_core.runner`, `_core.lazy`, `_core.numpy_backend` and `_core.base`.
"""

import functools
import sys

import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax._core.base.state import local
from paddle_jax._core.lazy import segment as segments
from paddle_jax._core.lazy.recorder import extension
from paddle_jax._core.numpy_backend import Plan
from paddle_jax._core.runner import short_segments


@pytest.fixture(params=["python", "c"], autouse=True)
def way(request, monkeypatch):
    """Runs each test by the Python code, and by the extension module."""
    if request.param == "c" and extension is None:
        pytest.skip("this installation has no extension module")
    if request.param == "python":
        monkeypatch.setattr(segments, "read_pending", segments.nothing_read)
        monkeypatch.setattr(segments, "read_held", segments.nothing_read)
        monkeypatch.setattr(sys.modules[Plan.__module__], "extension", None)
    return request.param


READS = {
    "any": (lambda x, y: bool((x > y).any()), lambda x, y: bool((x > y).any())),
    "difference": (lambda x, y: float(((x - y) ** 2).mean()), lambda x, y: ((x - y) ** 2).mean()),
    "accuracy": (
        lambda x, y: (x.argmax(-1) == y.argmax(-1)).astype("float32").mean().item(),
        lambda x, y: (x.argmax(-1) == y.argmax(-1)).mean(),
    ),
    "products": (lambda x, y: (x @ y @ x).numpy(), lambda x, y: x @ y @ x),
    "several results": (
        lambda x, y: (paddle.topk(x + y, 2)[0] * 2).numpy(),
        lambda x, y: -np.sort(-(x + y))[:, :2] * 2,
    ),
    "numbers": (lambda x, y: (x * 0.5 + 2 - y).numpy(), lambda x, y: x * 0.5 + 2 - y),
    "integers": (lambda x, y: ((x * 4).astype("int32") % 3).tolist(), lambda x, y: (x * 4).astype("i4") % 3),
}


@pytest.mark.parametrize("name", READS)
def test_each_run_has_its_own_values(name):
    ours, wanted = READS[name]
    rng = np.random.default_rng(0)
    for run in range(5):
        x, y = rng.random((2, 4, 4)).astype("float32") + run
        got = ours(paddle.to_tensor(x), paddle.to_tensor(y))
        np.testing.assert_allclose(got, wanted(x, y), rtol=1e-5)


def test_results_on_the_way_have_values():
    for run in range(4):
        x = paddle.to_tensor([-1.0, float(run)])
        positive = x > 0
        doubled = x * 2
        assert bool(positive.any()) == (run > 0)
        assert positive.tolist() == [False, run > 0]
        assert doubled.tolist() == [-2.0, 2.0 * run]


def test_other_numbers_and_dtypes():
    for number in (1.0, 2.0, 3):
        for dtype in ("float32", "int64"):
            x = paddle.to_tensor([1, 2], dtype=dtype)
            assert ((x + number) * number).sum().item() == (3 + 2 * number) * number


def test_steps_of_a_small_network():
    """Whose gradients have operands that nothing reads."""

    def train(mode):
        paddle.set_flags({"FLAGS_deferred": mode})
        paddle.seed(0)
        net = paddle.nn.Linear(4, 3)
        momentum = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
        losses = []
        for step in range(6):
            x = paddle.to_tensor(np.random.default_rng(step).random((2, 4), dtype=np.float32))
            loss = (net(x) * 2).sum()
            loss.backward()
            momentum.step()
            momentum.clear_grad()
            losses.append(float(loss))
        return [*losses, *net.weight.numpy().ravel()]

    before = paddle.get_flags("FLAGS_deferred")
    try:
        np.testing.assert_allclose(train("sync"), train("off"), rtol=1e-5)
    finally:
        paddle.set_flags(before)


def pending_plan():
    """The Plan of the operations that are recorded now, which have been read before."""
    ops = local.ctx.segment.ops
    if len(ops) == 1:
        return ops[0][0].tier_state.plan
    return short_segments.short_plans[tuple(ops)].plan


@pytest.fixture
def once_meanwhile(monkeypatch):
    """Calls a function once while the operations that are pending are computed, as a finalizer would."""

    def install(action, is_before=False):
        pending = [action]

        def with_action(function, *operands):
            if is_before and pending:
                pending.pop()()
            result = function(*operands)
            if pending:
                pending.pop()()
            return result

        steps = pending_plan()._steps
        number = 0 if is_before else -1
        kind, function, *rest = steps[number]
        changed = list(steps)
        changed[number] = (kind, functools.partial(with_action, function), *rest)
        monkeypatch.setattr(pending_plan(), "_steps", changed)

    return install


LENGTHS = pytest.mark.parametrize(
    "read", [lambda x: x + 1, lambda x: (x + 1) * 1], ids=["one operation", "two"]
)


@LENGTHS
@pytest.mark.parametrize("is_before", [False, True])
def test_what_a_finalizer_records_has_its_own_value(read, is_before, once_meanwhile):
    x = paddle.to_tensor([1.0, 2.0])
    for _ in range(3):
        read(x).numpy()
    recorded = []
    fives = paddle.full([2], 5.0)
    y = read(x)
    once_meanwhile(lambda: recorded.append(x * fives), is_before)
    assert y.tolist() == [2.0, 3.0]
    assert recorded[0].tolist() == [5.0, 10.0]


@LENGTHS
@pytest.mark.parametrize("reads_new", [False, True])
def test_a_finalizer_may_run_the_segment(read, reads_new, once_meanwhile):
    x = paddle.to_tensor([1.0, 2.0])
    for _ in range(3):
        read(x).numpy()
    y = read(x)
    found = []
    once_meanwhile(lambda: found.append((x * 5 if reads_new else y).tolist()))
    assert y.tolist() == [2.0, 3.0]
    assert found == [[5.0, 10.0] if reads_new else [2.0, 3.0]]
    assert (x * 2).sum().item() == 6.0


def test_an_interrupted_read_can_be_repeated(once_meanwhile):
    def interrupt():
        raise KeyboardInterrupt

    x = paddle.to_tensor([1.0, 2.0])
    for _ in range(3):
        (x + 1).sum().item()
    total = (x + 1).sum()
    once_meanwhile(interrupt)
    with pytest.raises(KeyboardInterrupt):
        total.item()
    assert total.item() == 5.0
    assert (x * 2).sum().item() == 6.0


def test_a_truth_value_of_numbers_runs_the_segment_by_its_plan(monkeypatch, way):
    if way == "c":
        pytest.skip("the extension module reads the plan itself")
    # The write to `found` is pending in each round, and the truth value does not depend on it.
    x = paddle.to_tensor([1.0, -2.0, 3.0])
    found = paddle.zeros([4])
    signs = []
    runs = []
    run = short_segments.ShortPlan.run
    monkeypatch.setattr(short_segments.ShortPlan, "run", lambda *args: runs.append(len(signs)) or run(*args))
    for i in range(4):
        value = (x * (i - 1.5)).sum()
        found[i] = value
        signs.append(bool(value > 0))
    assert signs == [False, False, True, True]
    assert found.tolist() == [-3.0, -1.0, 1.0, 3.0]
    assert runs == [1, 2, 3]  # a segment has a plan from its second run on


def test_warnings_of_numpy_are_as_before():
    x = paddle.to_tensor([1.0, 0.0])
    with np.errstate(divide="raise"):
        for _ in range(4):
            assert (1 / x).tolist() == [1.0, float("inf")]
            assert ((1 / x) * 2).tolist() == [2.0, float("inf")]
        with pytest.raises(FloatingPointError):
            np.ones(1) / np.zeros(1)
