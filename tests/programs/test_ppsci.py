"""PaddleScience on paddle_jax: the losses of every step are those of the real Paddle.

PaddleScience demands numpy < 2 and so cannot be installed by the side of JAX with its demands respected;
`pip install --no-deps` does.
"""

import pytest

from .both_engines import both, equal_losses, library

pytestmark = [library("ppsci"), pytest.mark.slow]
PROBLEMS = ["laplace", "allen_cahn", "cavity", "beam", "volterra", "deeponet", "vibration", "sympy_heat"]


@pytest.fixture(scope="module")
def losses(tmp_path_factory):
    return both("ppsci_problems.py", tmp_path_factory.mktemp("ppsci"), "30", *PROBLEMS)


@pytest.mark.parametrize("name", PROBLEMS)
def test_losses_of_every_step(name, losses):
    theirs, ours = (found[name] for found in losses)
    # L-BFGS: after some iterations rounding errors lead to different ways
    steps = 4 if name == "sympy_heat" else 30
    equal_losses(theirs[:steps], ours[:steps], rtol=1e-4, of_largest=1e-6)
