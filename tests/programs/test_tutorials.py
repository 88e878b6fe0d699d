"""What people type in their first hours, cell by cell with every value shown, in the real Paddle and here:
the same text, numbers to 1e-3.

The programs are in tutorials/; each weight that would be random is set by a formula, so that nothing shown
depends on a random stream.
"""

import importlib.util
import json
import math
import os
import re
from pathlib import Path

import pytest

from tests import forked_python, recorded

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted((HERE / "tutorials").glob("*.py"))
BATCH = 6
BATCHES = {"first_steps": [HERE / "tutorials" / "first_steps.py"]}
_REST = [file for file in PROGRAMS if file.stem != "first_steps"]
BATCHES |= {_REST[at].stem: _REST[at : at + BATCH] for at in range(0, len(_REST), BATCH)}
NUMBER = re.compile(r"(?<![A-Za-z_0-9.])[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan\b|inf\b)", re.IGNORECASE)
TOLERANCE = 1e-3


def same(got, want):
    """Whether two texts are equal but for numbers that are close; where all numbers are equal the
    spaces are, too."""
    got, want = (re.sub(r"0x[0-9a-f]+", "0x", text) for text in (got, want))
    ours, theirs = NUMBER.findall(got), NUMBER.findall(want)
    if ours == theirs:
        return got == want
    bare, wanted = ("".join(NUMBER.sub("#", text).split()) for text in (got, want))
    return bare == wanted and all(_close(float(a), float(b)) for a, b in zip(ours, theirs, strict=True))


def _close(a, b):
    return a == b or math.isnan(a) and math.isnan(b) or abs(a - b) <= TOLERANCE * max(abs(a), abs(b), 0.1)


def answers(engine, files, folder):
    """{program: cells} of an engine."""
    out = folder / f"{engine}.json"
    words = ["-m", "tests.programs.notebook", engine, out, *files]
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    done = forked_python.run(words, 900, environment, HERE.parents[1], engine)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return json.loads(out.read_text())


def answers_of_paddle(name, files, folder):
    """As `answers`, from the record. The first steps are taken each time."""
    if name == "first_steps":
        return answers("paddle", files, folder)
    key = recorded.key_of([HERE / "notebook.py", HERE.parent / "cpu.py", *files])

    def without_tracebacks():
        found = answers("paddle", files, folder)
        return {
            program: [[title, shown, trouble.strip().rpartition("\n")[2]] for title, shown, trouble in cells]
            for program, cells in found.items()
        }

    return recorded.texts(f"tutorials_{name}", key, without_tracebacks)


def differences(ours, theirs):
    """What differs between the cells of a program in both engines."""
    for (title, got, trouble), (_, want, wrong) in zip(ours, theirs, strict=False):
        if wrong and "refused" not in title:
            yield f"[{title}] raises in Paddle\n{wrong}"
        if bool(trouble) == bool(wrong) and trouble:  # our class may be several of Paddle's at once
            theirs_first = re.search(r"raises (\w+)", want)[1]
            got = re.sub(rf"raises .*\b{theirs_first}\b.*", want.splitlines()[-1], got)
        if not same(got, want):
            yield f"[{title}]\n--- Paddle\n{want}--- here\n{got}{trouble}"
    if len(ours) != len(theirs):
        yield f"{len(ours)} cells, in Paddle {len(theirs)}"


@pytest.mark.parametrize(
    "batch",
    [
        pytest.param(name, marks=(pytest.mark.first if name == "first_steps" else pytest.mark.slow))
        for name in BATCHES
    ],
)
@pytest.mark.skipif(importlib.util.find_spec("paddle") is None, reason="not installed: paddle")
def test_shows_what_paddle_shows(batch, tmp_path):
    files = BATCHES[batch]
    theirs, ours = answers_of_paddle(batch, files, tmp_path), answers("paddle_jax", files, tmp_path)
    problems = [f"{name} {text}" for name in theirs for text in differences(ours[name], theirs[name])]
    assert not problems, "\n".join(problems)


def test_there_are_enough():
    assert len(PROGRAMS) >= 60


def test_texts_are_compared():
    assert same("Tensor([1.0000, 2.])", "Tensor([1.0001, 2.])") and same("x0 -0.5 nan", "x0 -0.5 nan")
    assert (
        not same("[1, 2]", "[1,  2]")
        and not same("Tensor([1.0])", "Tensor([1.1])")
        and not same("int32 [1.0]", "int64 [1.0]")
    )
