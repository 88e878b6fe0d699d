"""Random steps that mix kinds of state and control flow do as compiled functions what they do
as plain Python."""

import pytest

from tests.jit.mixed.compare import interrupted, run


@pytest.mark.parametrize("block", range(5))
def test_random_steps_and_changes(block, tmp_path):
    for seed in range(block * 8, block * 8 + 8):
        problem, _, _ = run(seed, tmp_path)
        assert problem is None, problem


def test_interrupted_steps(tmp_path):
    for seed in range(12):
        problem, _ = interrupted(seed, tmp_path)
        assert problem is None, problem
