"""What pending operations keep from being freed: within a budget, and never at the cost of a step in two.

Unit tests of `_core.lazy.pending_memory`.
"""

import time
import weakref

import jax
import numpy as np
import pytest

from paddle_jax._core.lazy import pending_memory

pytestmark = pytest.mark.usefixtures("deferred")

_MIB = 1 << 20
_BATCHES = 24
# Four batches are the budget, two are in use, and JAX frees some later than it could.
_MOST = 10


@pytest.fixture
def small_budget(paddle):
    """Two MiB may be pending."""
    before = paddle.get_flags("FLAGS_deferred_pending_in_mb")
    paddle.set_flags({"FLAGS_deferred_pending_in_mb": 2})
    yield
    paddle.set_flags(before)


def _sum_of_losses(paddle, x, kept):
    kept["total"] = kept.get("total", 0.0) + x.mean()


def _metric(paddle, x, kept):
    kept["right"] = kept.get("right", paddle.to_tensor(0)) + (x.reshape([256, -1]).argmax(-1) == 3).sum()


def _in_place(paddle, x, kept):
    kept.setdefault("total", paddle.zeros([])).add_(x.max())


def _list_of_results(paddle, x, kept):
    kept.setdefault("results", []).append(x.sum())


def _derived(paddle, x, kept):
    kept.setdefault("results", []).append((x * 2 + 1).reshape([512, -1]).mean(1)[0])


def _moving_average(paddle, x, kept):
    kept["mean"] = kept.get("mean", 0.0) * 0.9 + x.mean() * 0.1


def _several_batches(paddle, x, kept):
    kept["total"] = kept.get("total", 0.0) + paddle.mean(x * x.astype("float32"))
    kept["last"] = x.min()


def _count_alive(references):
    """How many arrays are alive, when JAX has let go of those whose computation has ended.

    Its threads leave that to the next call of JAX, which a loop that only waits never makes.
    """
    end = time.monotonic() + 5
    while True:
        jax.device_put(0)
        count = sum(ref() is not None for ref in references)
        if count <= _MOST or time.monotonic() > end:
            return count
        time.sleep(0.01)


@pytest.mark.parametrize(
    "step",
    [_sum_of_losses, _metric, _in_place, _list_of_results, _derived, _moving_average, _several_batches],
)
def test_batches_do_not_pile_up(paddle, small_budget, step):
    batch = np.ones(_MIB // 8, "float32")  # half a MiB
    kept = {}
    alive = []
    most = 0
    for i in range(_BATCHES):
        x = paddle.to_tensor(batch * i)
        alive.append(weakref.ref(x._raw.array))
        step(paddle, x, kept)
        most = max(most, _count_alive(alive))
    assert most <= _MOST


def test_sums_are_right_when_operations_run_early(paddle, small_budget):
    total = paddle.to_tensor(0.0)
    for i in range(_BATCHES):
        total = (
            total
            + paddle.full([_MIB // 4], float(i)).mean()
            + paddle.to_tensor(np.full(_MIB // 4, i, "float32")).mean()
        )
    assert float(total) == 2 * sum(range(_BATCHES))


def test_a_training_step_stays_whole(paddle, small_budget, count):
    """New parameters and moments take the place of the old ones: running the step early frees nothing."""
    paddle.seed(0)
    net = paddle.nn.Sequential(*[paddle.nn.Linear(512, 512) for _ in range(4)])  # 4 MiB, 12 with moments
    adam = paddle.optimizer.Adam(0.001, parameters=net.parameters())
    x = paddle.randn([4, 512])
    for i in range(4):
        loss = (net(x) ** 2).mean()
        loss.backward()
        adam.step()
        adam.clear_grad()
        loss.item()
        if i == 1:
            count("segments")
    assert count("segments") == 2


def test_operands_that_are_still_held_run_nothing(paddle, small_budget, count):
    held = [paddle.to_tensor(np.full(_MIB // 4, i, "float32")) for i in range(8)]
    held[0].numpy()
    count("segments")
    total = 0.0
    for x in held:
        total = total + x.mean()
    assert count("segments") == 0
    assert float(total) == sum(range(8))


class _Device:
    def __init__(self, stats):
        self.memory_stats = lambda: stats


def test_a_small_device_gives_a_small_budget(monkeypatch):
    monkeypatch.setattr(pending_memory.jax, "Device", _Device)
    small = _Device({"bytes_limit": 32 * _MIB})
    silent = _Device(None)
    assert pending_memory.memory_budget(small) == _MIB
    assert pending_memory.memory_budget(silent) == 64 * _MIB
    assert pending_memory.memory_budget(frozenset([small, silent])) == _MIB
