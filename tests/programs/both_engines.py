"""Runs one program through the alias and, unchanged, with the real Paddle; each writes what it found into an
.npz file. What small programs find with the real Paddle is kept with the tests."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests import recorded

HERE = Path(__file__).resolve().parent


def library(name):
    """Skips the tests of a file where a library, or the real Paddle, is not installed."""
    missing = [module for module in (name, "paddle") if importlib.util.find_spec(module) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def run(arguments, folder, seconds=900, **environment):
    """Runs Python in `folder`; returns its output, and shows it when the program fails."""
    command = [sys.executable, "-W", "ignore", *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def both(program, folder, *arguments, libraries=(), rests_on=(), **environment):
    """(what the real Paddle found, what paddle_jax found): name -> array. The program gets: folder of
    weights, file to write, arguments. The real Paddle runs first and may leave its initial weights in the
    folder; its record has them, too.

    Args:
        libraries: names of distributions that the results depend on.
        rests_on: paths of files that the program imports.
    """
    script = HERE / program
    key = recorded.key_of([script, *rests_on, json.dumps([*arguments, environment])], libraries)

    def compute():
        found = found_by([], script, folder, arguments, environment)
        for path in _weights(folder):
            with np.load(path) as weights:
                found |= {f"{path.name}{_WEIGHT}{key}": weights[key] for key in weights}
        return found

    found = recorded.arrays(_label(script, arguments), key, compute)
    theirs = {name: value for name, value in found.items() if _WEIGHT not in name}
    _leave_weights(folder, {name: value for name, value in found.items() if _WEIGHT in name})
    ours = found_by(["-m", "paddle_jax"], script, folder, arguments, environment)
    assert (str(theirs.pop("engine")), str(ours.pop("engine"))) == ("paddle", "paddle_jax")
    return theirs, ours


def of_paddle(script, folder, arguments):
    """What a program finds with the real Paddle, from weights that lie in the folder."""
    weights = _weights(folder)
    names = " ".join(path.name for path in weights)
    key = recorded.key_of([script, json.dumps(arguments), names, *weights])
    label = _label(script, arguments)
    return recorded.arrays(label, key, lambda: found_by([], script, folder, arguments, {}))


def found_by(engine, script, folder, arguments, environment):
    """The arrays that a program writes; engine: what stands before it on Python's command line."""
    file = folder / f"{'ours' if engine else 'theirs'}.npz"
    run([*engine, str(script), str(folder), str(file), *arguments], folder, **environment)
    with np.load(file) as found:
        return dict(found)


_WEIGHT = ": "  # between the name of a file of weights and the key of an array


def _weights(folder):
    return sorted(path for path in folder.glob("*.npz") if path.stem not in ("ours", "theirs"))


def _leave_weights(folder, weights):
    """Puts the files that a record has where the program looks for them."""
    files = {}
    for name, value in weights.items():
        file, key = name.split(_WEIGHT)
        files.setdefault(file, {})[key] = value
    for file, arrays in files.items():
        np.savez(folder / file, **arrays)


def _label(script, arguments):
    return re.sub(r"\W+", "_", f"{script.stem} {' '.join(arguments)}")[:80].strip("_")


def equal_losses(theirs, ours, rtol, of_largest):
    """Every loss of every step within rtol, or within a part of the largest that it was: losses on their way
    through zero have no digits."""
    assert theirs.shape == ours.shape and np.isfinite(theirs).all()
    np.testing.assert_array_less(
        np.abs(ours - theirs), rtol * np.abs(theirs) + of_largest * np.abs(theirs).max(0) + 1e-30
    )
