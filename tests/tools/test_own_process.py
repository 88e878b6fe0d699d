"""What `own_process` promises: tests share a process, and one that does not pass there gets a new one."""

import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = """
import os, time
RAN = []

def test_first(): RAN.append(1)
def test_shares(): assert RAN == [1]
def test_wants_a_new_process(): assert not RAN
def test_fails(): RAN.append(1); assert False
def test_after_a_failure(): assert not RAN; RAN.append(1)
def test_dies_after_others(): RAN and os._exit(3)
def test_dies(): os._exit(4)
def test_hangs(): time.sleep(100)
def test_alone(): assert not RAN; RAN.append(1)
def test_after_one_alone(): assert not RAN
"""
PROGRAM = """
import io, json, sys, tempfile
import pytest
from tests.own_process import Collected

requests = io.StringIO(sys.stdin.read())
with tempfile.TemporaryFile() as log:
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", ".", "test_these.py"]
    pytest.main(options, plugins=[Collected(requests, sys.stderr, log.fileno())])
"""
# test: outcome of its call, or how the process ended, and whether it ran again
OUTCOMES = {
    "first": ("passed", False),
    "shares": ("passed", False),
    "wants_a_new_process": ("passed", True),
    "fails": ("failed", True),
    "after_a_failure": ("passed", False),
    "dies_after_others": ("passed", True),
    "dies": ("exit code 4", True),
    "hangs": ("not done within 1 s", False),
    "first again": ("passed", False),
    "alone": ("passed", False),
    "after_one_alone": ("passed", False),
}


def test_a_test_that_does_not_pass_after_others_gets_a_new_process(tmp_path):
    (tmp_path / "test_these.py").write_text(TESTS)
    requests = [
        {
            "test": f"test_these.py::test_{name.partition(' ')[0]}",
            "seconds": 1 if name == "hangs" else 60,
            "alone": name == "alone",
        }
        for name in OUTCOMES
    ]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="\n".join(map(json.dumps, [*requests, {}])),
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    ready, *answers, left = map(json.loads, run.stderr.splitlines())
    assert (ready["how"], left["how"]) == ("ready", "left")
    assert dict(zip(OUTCOMES, map(outcome, answers), strict=True)) == OUTCOMES


def outcome(answer):
    calls = [report["outcome"] for report in answer["reports"] if report["when"] == "call"]
    return (calls[0] if calls else answer["how"], answer["again"])
