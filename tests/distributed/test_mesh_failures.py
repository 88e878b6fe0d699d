"""Processes that do not take part in a program on their mesh any more.

Unit tests of `_core.process_group.failure_detector`.
"""

import re

import pytest

from paddle_jax._core.process_group import failure_detector
from tests.distributed import pairs


@pytest.mark.slow
def test_a_process_that_has_ended():
    waiting, ended = pairs.run("ended_on_mesh.py", seconds=60)
    # It learns at its end that the other one has failed, from JAX or from the failure detector.
    assert ended.code in (1, failure_detector.TIMED_OUT) and "caught a bad sample" in ended.out, ended
    sums = [line for line in waiting.out.splitlines() if line.startswith("sum")]
    assert sums == ["sum 4.0"], waiting
    # Gloo may see the broken connection first: then an exception says so.
    assert waiting.code in (1, failure_detector.TIMED_OUT)
    text = r"a program on devices of ranks 0, 1: (the connection broke: )?rank 1 has come to the end"
    assert re.search(text, waiting.err), waiting


def test_a_long_program_is_waited_for(monkeypatch):
    """Without a failure no time limit ends it; with one it ends after the first second."""
    with failure_detector.monitored_program([0, 1]):
        (call,) = failure_detector._State.pending.values()
        monkeypatch.setattr(failure_detector, "failure_among", lambda ranks: None)
        assert failure_detector._reason_to_give_up(call, 1e9) is None
        monkeypatch.setattr(failure_detector, "failure_among", lambda ranks: f"{ranks} have ended")
        assert failure_detector._reason_to_give_up(call, 0.5) is None
        assert failure_detector._reason_to_give_up(call, 2.0) == "[0, 1] have ended"
    assert not failure_detector._State.pending
