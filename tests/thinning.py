"""Which tests `-m "not slow"` leaves out beside those that are marked by hand: most rows of tables that take
long, and single tests that do.

`tests/data/seconds.json` has the mean seconds of a test of each function that takes long, measured on two
cores. `PADDLE_JAX_TEST_SECONDS=FILE pytest` measures them anew. Of a table rows that are spread evenly stay,
about half a second of them; one row of each operation stays in `test_as_the_oracle`, which is left whole.
"""

import json
import os
from pathlib import Path

import pytest

FILE = Path(__file__).parent / "data" / "seconds.json"
SINGLE, TABLE, KEPT = 0.8, 1.0, 0.6  # seconds: of one test, of all rows together, of the rows that stay
DEAREST = 2.0  # seconds of a row of which not even one stays
WHOLE = frozenset(("ops/test_ops.py::test_as_the_oracle", "ops/test_ops.py::test_is_public_and_has_cases"))


def function_of(nodeid):
    """The test function a test belongs to, from the folder of the tests on."""
    return nodeid.partition("[")[0].removeprefix("tests/")


def mark_slow(items):
    """Marks what takes long."""
    seconds, tables = json.loads(FILE.read_text(encoding="utf-8")), {}
    for item in items:
        name = function_of(item.nodeid)
        if name in seconds and name not in WHOLE:
            tables.setdefault(name, []).append(item)
    for name, rows in tables.items():
        kept = _kept(len(rows), seconds[name])
        for number, item in enumerate(rows):
            if number not in kept:
                item.add_marker(pytest.mark.slow)


def _kept(count, seconds):
    """The numbers of the rows of a table that stay."""
    if seconds <= SINGLE and count * seconds <= TABLE:
        return range(count)
    number = min(count, int(KEPT / seconds) or int(count > 1 and seconds <= DEAREST))
    return {at * count // number for at in range(number)}


def write_seconds(reports):
    """Writes what was measured, where PADDLE_JAX_TEST_SECONDS says; reports: of pytest, of all phases."""
    if not (file := os.environ.get("PADDLE_JAX_TEST_SECONDS")):
        return
    total, rows = {}, {}
    for report in reports:
        name = function_of(report.nodeid)
        total[name] = total.get(name, 0) + report.duration
        rows.setdefault(name, set()).add(report.nodeid)
    mean = {name: (took / len(rows[name]), took) for name, took in sorted(total.items())}
    found = {name: round(each, 3) for name, (each, took) in mean.items() if each > SINGLE or took > TABLE}
    Path(file).write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
