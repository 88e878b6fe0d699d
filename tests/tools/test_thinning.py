"""Which rows of long tables stay in the fast run of the tests."""

import json

import pytest

from tests import thinning


@pytest.mark.parametrize(
    ("count", "seconds", "kept"),
    [
        (2, 0.5, {0, 1}),  # a second together is short
        (60, 0.1, set(range(0, 60, 12))),
        (10, 2.0, {0}),
        (10, 5.0, set()),
        (1, 1.5, set()),
        (500, 0.001, set(range(500))),
    ],
)
def test_rows_that_stay(count, seconds, kept):
    assert set(thinning._kept(count, seconds)) == kept


def test_what_was_measured_is_still_there():
    folder, gone = thinning.FILE.parents[1], []
    for name in json.loads(thinning.FILE.read_text(encoding="utf-8")):
        file, function = name.split("::")
        if not (folder / file).exists() or f"def {function}(" not in (folder / file).read_text(
            encoding="utf-8"
        ):
            gone.append(name)
    assert not gone
