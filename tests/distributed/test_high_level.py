"""`paddle.Model` on two processes trains and measures as one process does with the whole batches."""

import json

import numpy as np
import pytest

from tests.distributed import pairs
from tests.distributed.programs import high_level as program

pytestmark = pytest.mark.slow


def softmax_regression():
    """The weight and the accuracy after the same steps, by the formula of the gradient."""
    weight = program.WEIGHT.astype("float64")
    for _ in range(2):
        for start in range(0, program.COUNT, 8):
            rows = program.X[start : start + 8]
            exponents = np.exp(rows @ weight)
            error = exponents / exponents.sum(1, keepdims=True)
            error[np.arange(8), program.Y[start : start + 8, 0]] -= 1
            weight -= program.RATE * rows.T @ error / 8
    return weight, np.mean((program.X @ weight).argmax(1) == program.Y[:, 0])


def test_two_processes():
    weight, accuracy = softmax_regression()
    for process in pairs.run("high_level.py", seconds=60):
        assert process.code == 0, process.err
        for mode, found in json.loads(process.out.splitlines()[-1]).items():
            np.testing.assert_allclose(found["weight"], weight, rtol=1e-4, err_msg=mode)
            assert found["accuracy"] == pytest.approx(accuracy), mode
