"""einops on paddle_jax: its own tests of the Paddle backend, run through the alias."""

import importlib.util
import re
from pathlib import Path

import pytest

from .both_engines import run

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("einops") is None, reason="not installed: einops"),
    pytest.mark.slow,
]


def test_its_own_tests_pass(tmp_path):
    tests = Path(importlib.util.find_spec("einops").submodule_search_locations[0]) / "tests"
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(tmp_path)]
    out = run(
        ["-m", "paddle_jax", "-m", "pytest", *options, str(tests)], tmp_path, EINOPS_TEST_BACKENDS="paddle"
    )
    assert int(re.search(r"(\d+) passed", out)[1]) > 40 and "failed" not in out
