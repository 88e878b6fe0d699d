"""Places on a machine with accelerators that are not there: where values are, what moves them, and what is
refused (fake_accelerators.py)."""

import json
import os

import pytest

from tests import forked_python
from tests.device import places_programs

REFUSED = [
    ("set_device('gpu:4')", "ValueError", "numbers 0, 1, 2, 3"),
    ("set_device('tpu')", "ValueError", "JAX finds gpu here"),
    ("set_device('gpu_pinned')", "ValueError", "gpu_pinned"),
    ("CUDAPlace(4)", "ValueError", "numbers 0, 1, 2, 3"),
    ("CUDAPlace(-1)", "ValueError", "numbers 0, 1, 2, 3"),
    ("CUDAPlace('a')", "TypeError", "device_id"),
    ("CUDAPlace()", "TypeError", ""),
    ("ones([1]).cuda(9)", "ValueError", "numbers 0, 1, 2, 3"),
    ("ones([1]).cuda(1.5)", "ValueError", "device_id"),
    ("ones([1]).to('abc')", "ValueError", "abc"),
    ("ones([1]).cuda(1) + ones([1]).cuda(2)", "ValueError", "gpu:1, gpu:2"),
    ("concat([ones([1]).cuda(1), ones([1]).cuda(2)])", "ValueError", "gpu:1, gpu:2"),
]


def answers(kind, names):
    """What programs of places_programs.py give on a machine with accelerators of a kind."""
    environment = {key: value for key, value in os.environ.items() if key != "JAX_PLATFORMS"}
    done = forked_python.run(["-m", "tests.device.places_programs", kind, *names], 240, environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def gpu():
    return answers("gpu", places_programs.PROGRAMS)


@pytest.mark.parametrize("name", places_programs.PROGRAMS)
def test_places_on_gpus(gpu, name):
    _, expected = places_programs.PROGRAMS[name]
    assert gpu[name] == expected


def test_refused_on_gpus():
    found = answers("gpu", [f"refused:{call}" for call, _, _ in REFUSED])
    for call, error, words in REFUSED:
        kind, message = found[f"refused:{call}"]
        assert kind == error, call
        assert words in message, call
        assert "\n" not in message, call


def test_kinds_that_paddle_has_no_name_for():
    found = answers("mychip", ["a kind of its own"])
    assert found["a kind of its own"] == places_programs.OWN_KIND
