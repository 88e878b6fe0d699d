"""A process that fails ends the others: soon, with a message that says why, and with an exit
status that is not 0."""

import time

import pytest

from tests.distributed import pairs

pytestmark = pytest.mark.slow


def ended(what, **more):
    """How both processes end, and after how many seconds."""
    start = time.monotonic()
    found = pairs.run("failing.py", what, seconds=60, **more)
    assert all(process.code not in (0, None) for process in found), found
    assert not any("over" in process.out for process in found), found
    return *found, time.monotonic() - start


def test_an_exception_on_one_rank():
    zero, one, _ = ended("raise")
    assert one.code == 1 and "ValueError: an error of the user" in one.err
    assert zero.code == 1 and "rank 1 has failed (ValueError: an error of the user)" in zero.err
    assert "all_reduce(sum, float32[4]) on group 0 (ranks 0, 1), as rank 0" in zero.err


def test_sys_exit_on_one_rank():
    zero, one, _ = ended("exit")
    assert one.code == 5
    assert zero.code in (1, 87) and "rank 1 has failed (sys.exit(5))" in zero.err


def test_the_end_of_one_program():
    zero, one, _ = ended("end")
    assert zero.code == 87 and "rank 1 has come to the end of its program" in zero.err
    # whichever of its threads sees it first
    assert "rank 0 has failed" in one.err or "rank 0, which holds the store, has failed" in one.err


def test_a_process_that_is_gone():
    zero, one, _ = ended("gone")
    assert one.code == 9
    assert (
        zero.code == 1
        and "all_reduce(sum, float32[4]) on group 0" in zero.err
        and "the connection broke" in zero.err
    )


def test_a_process_that_does_not_come_in_time():
    # the other one stands still
    zero, _ = pairs.run("failing.py", "frozen", seconds=40, others_wait=False, PADDLE_PG_TIMEOUT="4000")
    assert zero.code == 87 and "not all ranks came within 4 s" in zero.err
    assert (
        "rank 0 is in call #2, all_reduce(sum, float32[4])" in zero.err and "call #1, all_reduce" in zero.err
    )


def test_other_calls():
    zero, one, _ = ended("other")
    for process in (zero, one):
        assert process.code == 1
        assert (
            "rank 0 calls broadcast(src 0, float32[4])" in process.err
            and "rank 1 calls all_gather(float32[4])" in process.err
        )


def test_a_first_call_that_differs_and_comes_late():
    """The error can be caught on both sides, whichever sees the difference first."""
    for process in pairs.run("failing.py", "late", seconds=60):
        assert process.code == 0 and "caught MismatchError" in process.out, process.err
        assert "over" in process.out


def test_a_message_that_is_never_sent():
    zero, one, _ = ended("message")
    assert zero.code == 1 and one.code != 0
    assert (
        "rank 0 has failed (KeyError: 'before the message was sent')" in one.err
        or "rank 0, which holds the store, has failed" in one.err
    )


def test_a_process_that_is_not_started():
    (zero,) = pairs.run("failing.py", "none", absent=(1,), seconds=60, PADDLE_PG_TIMEOUT="3000")
    assert zero.code == 87 and "rank 0 has waited 3 s" in zero.err and "all 2 processes" in zero.err
