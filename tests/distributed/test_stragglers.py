"""The process that makes the others wait is named.

Unit tests of `_core.process_group.straggler_report`.
"""

import pytest

from paddle_jax._core.process_group import straggler_report
from tests.distributed import pairs

BEFORE = {0: (10, 1.0), 1: (10, 2.0), 2: (10, 1.5)}


@pytest.mark.parametrize(
    "after, found",
    [
        ({0: (50, 9.0), 1: (50, 2.5), 2: (50, 8.5)}, (1, 40, 7.5, 0.5)),
        ({0: (50, 1.1), 1: (50, 12.0), 2: (49, 9.5)}, (0, 39, 9.0, pytest.approx(0.1))),
        ({0: (50, 9.0), 1: (50, 9.0), 2: (50, 8.5)}, None),  # all wait alike: the wire is slow
        ({0: (50, 2.9), 1: (50, 2.1), 2: (50, 3.4)}, None),  # less than the share
        ({0: (12, 9.0), 1: (12, 2.1), 2: (12, 8.5)}, None),  # too few calls
        ({0: (50, 9.0)}, None),
    ],
)
def test_who_is_slow(after, found):
    assert straggler_report.slow_rank(BEFORE, after, 10.0, 0.2) == found


def test_lines(monkeypatch, capsys):
    monkeypatch.setenv("PADDLE_STRAGGLER_SECONDS", "10")
    now = [0.0]
    monkeypatch.setattr(straggler_report.time, "monotonic", lambda: now[0])
    watch, waited = straggler_report.StragglerReport(), {0: 0.0, 1: 0.0}

    def states(rank):
        return {
            "group 0 (ranks 0, 1)": [int(now[0]), "all_reduce", True, waited[rank], [0, 1]],
            "group 10 (ranks 1)": [1, "", True, 99.0, [1]],
        }

    for _ in range(30):
        now[0] += 10
        waited[0] += 6.0
        waited[1] += 1.0
        watch.report_if_due(0, states)
        watch.report_if_due(1, states)  # only the first of a group speaks
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3  # once, and again after ten windows
    wanted = (
        "rank 1 is slow: in the last 10 s the other ranks of group 0 (ranks 0, 1) waited 6.0 s "
        "(median) in 10 calls, rank 1 itself 1.0 s"
    )
    assert lines[1].startswith(f"paddle.distributed: {wanted}")


@pytest.mark.slow
@pytest.mark.parametrize("slow", [0, 1])
def test_a_slow_process(slow):
    found = pairs.run("slow.py", str(slow), "7", seconds=60, PADDLE_STRAGGLER_SECONDS="2")
    assert [process.code for process in found] == [0, 0], found
    assert f"rank {slow} is slow: in the last" in found[0].err and "is slow" not in found[1].err
    assert f"rank {1 - slow} is slow" not in found[0].err
