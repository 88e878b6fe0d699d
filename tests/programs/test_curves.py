"""Training curves against the real Paddle from its initial weights; mixed precision stays near them (its CPU build casts nothing there)."""

import numpy as np
import pytest

from tests.programs.both_engines import both, library

# steps; relative differences of losses, of what the trained net gives, and of losses in bfloat16
CURVES = {"translator": (100, 2e-3, 2e-2, 0.1), "tagger": (100, 1e-4, 1e-4, 0.03), "reader": (100, 1e-4, 1e-4, 0.03), "mobile": (30, 3e-3, 0, 0.3),
          "double": (100, 2e-7, 0, None)}  # the same net in float64, where nothing that is rounded differently grows to be seen


@pytest.mark.slow
@library("paddle")
@pytest.mark.parametrize("name", CURVES)
def test_losses_are_those_of_the_oracle(name, tmp_path):
    steps, close, closing, coarse = CURVES[name]
    theirs, ours = both("curve_problems.py", tmp_path, str(steps), name)
    largest = np.abs(theirs[name]).max()
    np.testing.assert_allclose(ours[name], theirs[name], close, close * largest)
    np.testing.assert_allclose(ours[f"{name}, results"], theirs[f"{name}, results"], closing, closing * np.abs(theirs[f"{name}, results"]).max())
    for level in ("O1", "O2") if coarse else ():
        np.testing.assert_allclose(ours[f"{name} {level}"], theirs[name], coarse, coarse * largest)
    assert theirs[name][-5:].mean() < 0.8 * theirs[name][0] or name == "mobile"  # thirty steps of it are for the numbers alone
