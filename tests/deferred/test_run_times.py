"""What runs of a segment take, measured for later processes.

Unit tests of `_core.runner` and `_core.lazy`.
"""

import numpy as np
import pytest

from paddle_jax._core.lazy.lazy_array import lazy_from_numpy
from paddle_jax._core.lazy.transfer import donatable_jax_array
from paddle_jax._core.runner import run_times
from paddle_jax._core.runner.run_times import NOT_MEASURED, RunTimes, Times


@pytest.mark.parametrize(
    "times, saved",
    [
        # the period is 3 s shorter, and the run in NumPy takes 4
        (Times(4.0, 5.0, 2.0, 1.0), 3.0),
        # Other segments were compiled, too: this one saves no more than its own time.
        (Times(1.0, 5.0, 2.0, 1.0), 1.0),
        (Times(1.0, 2.0, 3.0, 1.0), -1.0),
        (NOT_MEASURED, None),
        (Times(4.0, 5.0, 2.0, 0.0), None),
        (Times(4.0, 5.0, 0.0, 1.0), None),
    ],
)
def test_saved_seconds(times, saved):
    assert times.saved == saved


def test_the_least_times_count():
    assert Times(4.0, 5.0, 0.0, 0.0).least(Times(3.0, 6.0, 2.0, 0.0)) == Times(3.0, 5.0, 2.0, 0.0)


@pytest.fixture
def clock(monkeypatch):
    """Sets the clock."""
    now = [100.0]
    monkeypatch.setattr(run_times.time, "perf_counter", lambda: now[0])

    def go(seconds):
        now[0] += seconds

    return go


def test_runs_are_measured(clock):
    measured = RunTimes()
    assert measured.times() == NOT_MEASURED
    for seconds in (5.0, 2.0, 3.0):
        measured.start_run(False)
        clock(seconds)
        measured.end_interpreted()
        clock(1.0)
    # the first compiled run has no compiled one before it
    for seconds in (9.0, 0.5, 0.75):
        measured.start_run(True)
        clock(seconds)
    measured.start_run(True)
    measured.load = 7.0
    assert measured.times() == Times(2.0, 3.0, 0.5, 7.0)


def test_measuring_ends(clock):
    measured = RunTimes()
    for seconds in (*[2.0] * 100, 1.0):
        measured.start_run(False)
        clock(seconds)
        measured.end_interpreted()
    assert measured.times() == Times(2.0, 2.0)


@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_a_large_array_that_is_donated_has_memory_of_its_own(size):
    array = np.arange(size, dtype="float32")
    lazy = lazy_from_numpy(array)
    donatable = donatable_jax_array(lazy)
    assert lazy.array is donatable and np.array_equal(donatable, array)
    if size > 1000:
        assert not np.shares_memory(np.asarray(donatable), array)
