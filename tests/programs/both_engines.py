"""Runs one program with the real Paddle and, unchanged, through the alias; each writes what it found
into an .npz file."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

from tests import forked_python

HERE = Path(__file__).resolve().parent
# The tests compile without optimisations; what trains for long is faster with them.
OPTIMISED = {"XLA_FLAGS": ""}


def library(name):
    """Skips the tests of a file where a library, or the real Paddle, is not installed."""
    missing = [module for module in (name, "paddle") if importlib.util.find_spec(module) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def run(arguments, folder, seconds=900, **environment):
    """Runs Python in `folder`; returns its output, and shows it when the program fails.

    The program starts in a fork of a process that has imported its engine: paddle_jax where the arguments
    name it, else the real Paddle.
    """
    environment = os.environ | {"PYTHONWARNINGS": "ignore"} | environment
    uses_ours = any(word == "paddle_jax" or "import paddle_jax" in word for word in map(str, arguments))
    engine = "paddle_jax" if uses_ours else "paddle"
    done = forked_python.run(arguments, seconds, environment, folder, engine)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def both(program, folder, *arguments, **environment):
    """(what the real Paddle found, what paddle_jax found): name -> array. The program gets: folder of
    weights, file to write, arguments."""
    found = []
    for engine in ([], ["-m", "paddle_jax"]):
        file = folder / f"{'ours' if engine else 'theirs'}.npz"
        run([*engine, str(HERE / program), str(folder), str(file), *arguments], folder, **environment)
        found.append(dict(np.load(file)))
    names = [str(values.pop("engine")) for values in found]
    assert names == ["paddle", "paddle_jax"]
    return found


def equal_losses(theirs, ours, rtol, of_largest):
    """Every loss of every step within rtol, or within a part of the largest that it was: losses on their way
    through zero have no digits."""
    assert theirs.shape == ours.shape and np.isfinite(theirs).all()
    np.testing.assert_array_less(
        np.abs(ours - theirs), rtol * np.abs(theirs) + of_largest * np.abs(theirs).max(0) + 1e-30
    )
