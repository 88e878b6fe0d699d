"""DeepXDE, as it is published, on paddle_jax: the losses of every step are those of the real Paddle."""

import numpy as np
import pytest

from .both_engines import HERE, OPTIMISED, both, equal_losses, library, run

pytestmark = [library("deepxde"), pytest.mark.slow]
ADAM = [
    "function",
    "burgers",
    "heat",
    "beam",
    "reaction",
    "lorenz",
    "operator",
    "advection",
    "hard",
    "volterra",
    "quadrant",
]
COMPILED = ["function", "burgers", "beam", "reaction", "operator", "hard"]
DOUBLE = ["burgers", "beam", "reaction"]
ENVIRONMENT = {"DDE_BACKEND": "paddle"}
STEPS = 50


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("float32")


@pytest.fixture(scope="module")
def single(folder):
    return both("deepxde_problems.py", folder, str(STEPS), "float32", *ADAM, **ENVIRONMENT, **OPTIMISED)


@pytest.fixture(scope="module")
def compiled(folder, single):
    """With DeepXDE's training step through `to_static`, from the same weights."""
    out = folder / "compiled.npz"
    program = ["-m", "paddle_jax", str(HERE / "deepxde_problems.py")]
    arguments = [str(folder), str(out), str(STEPS), "float32", *COMPILED]
    run([*program, *arguments], folder, COMPILED="1", **ENVIRONMENT)
    with np.load(out) as file:
        return dict(file)


@pytest.fixture(scope="module")
def double(tmp_path_factory):
    return both(
        "deepxde_problems.py",
        tmp_path_factory.mktemp("float64"),
        "40",
        "float64",
        "poisson",
        *DOUBLE,
        **ENVIRONMENT,
        **OPTIMISED,
    )


@pytest.mark.parametrize("name", ADAM)
def test_losses_of_every_step(name, single):
    theirs, ours = (found[name] for found in single)
    assert len(theirs) == STEPS + 1
    equal_losses(theirs, ours, rtol=1e-4, of_largest=1e-6)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_steps(name, single, compiled):
    equal_losses(single[0][name], compiled[name], rtol=1e-4, of_largest=1e-6)


@pytest.mark.parametrize("name", DOUBLE)
def test_losses_in_double_precision(name, double):
    equal_losses(*(found[name] for found in double), rtol=1e-10, of_largest=1e-13)


def test_lbfgs_takes_the_same_way_and_converges(double):
    """The first 25 iterations agree; after that rounding errors lead to different ways to the minimum."""
    theirs, ours = (found["poisson"] for found in double)
    np.testing.assert_allclose(ours[:6], theirs[:6], rtol=1e-7)
    assert ours[-1, 0] < 1e-2 * ours[0, 0] and theirs[-1, 0] < 1e-2 * theirs[0, 0]
