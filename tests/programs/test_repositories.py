"""Programs in the style of the public repositories of models train and predict as with the real Paddle,
from fixed weights."""

import numpy as np
import pytest

from tests.programs.both_engines import both, library

# relative to the largest number: sums in another order, and how far training leads them apart
TOLERANCES = {"segmentation": 1e-4, "translation": 1e-5, "detection": 2e-4, "recognition": 2e-3}
EXACT = ("matrix", "names", "index", "counts", "widths", "distances")


@pytest.mark.slow
@library("PIL")
@pytest.mark.parametrize("program", TOLERANCES)
def test_gives_what_the_oracle_gives(program, tmp_path):
    theirs, ours = both(f"repositories/{program}.py", tmp_path)
    assert theirs.keys() == ours.keys()
    for name, expected in theirs.items():
        found = ours[name]
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype), name
        if name in EXACT:
            np.testing.assert_array_equal(found, expected, name)
        else:
            np.testing.assert_allclose(
                found, expected, 0, TOLERANCES[program] * np.abs(expected).max(), err_msg=name
            )
    losses = ours["losses"].sum(1)
    assert losses[-1] < 0.8 * losses[0]  # it learns
