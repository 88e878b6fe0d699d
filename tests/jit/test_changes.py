"""What a compiled function rests on is what its code has read: no change of Python's state goes unnoticed."""

import warnings

import numpy as np
import pytest

import paddle_jax as paddle
from tests.jit.changes import CASES
from tests.jit.corpus.script import data
from tests.jit.random_changes import program


@pytest.mark.parametrize("name", CASES)
def test_a_change_is_noticed(name):
    paddle.seed(7)
    function, change = CASES[name]()
    x = paddle.abs(data(3, 2)) + 0.5
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*runs op by op")
        step = paddle.jit.to_static(function)
        before = step(x).numpy()
        np.testing.assert_allclose(before, function(x).numpy(), rtol=2e-6)
        np.testing.assert_allclose(step(x).numpy(), before, rtol=2e-6)
        change()
        after = function(x).numpy()
        assert after.shape != before.shape or not np.allclose(after, before)  # or the case shows nothing
        for _ in range(2):
            np.testing.assert_allclose(step(x).numpy(), after, rtol=2e-6)


@pytest.mark.parametrize("block", range(6))
def test_random_functions_and_changes(block, tmp_path):
    """Each number that a random function may read is changed in turn."""
    x = paddle.abs(data(2)) + 0.5
    for seed in range(block * 8, block * 8 + 8):
        made = program(seed, tmp_path)
        if made is None:
            continue
        function, setters, rng = made
        step = paddle.jit.to_static(function, full_graph=True)
        for put in [lambda _: None, *rng.sample(setters, min(len(setters), 3))]:
            put(round(rng.uniform(0.5, 1.5), 3))
            expected = function(x).numpy()
            for _ in range(2):
                np.testing.assert_allclose(step(x).numpy(), expected, rtol=1e-5, err_msg=f"seed {seed}")
