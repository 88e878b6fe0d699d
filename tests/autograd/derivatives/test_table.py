"""Every row of the table: derivatives of order 1 to 4 against difference quotients, in reverse mode,
forward mode and mixed."""

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.autograd.derivatives import engine
from tests.autograd.derivatives.table import REASONS, ROWS
from tests.ops.table import OPS

HOME = pathlib.Path(__file__).resolve().parents[3]
SOME = {
    "tanh",
    "pow",
    "linalg.solve",
    "linalg.svdvals",
    "layer_norm",
    "conv2d",
    "getitem",
    "fft.rfft",
    "cross_entropy",
    "concat",
}
BOTH_WAYS = [row for row in ROWS if row.op in SOME]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_row(row, paddle):
    assert not engine.problems(paddle, row, row.orders)


@pytest.mark.parametrize("row", BOTH_WAYS, ids=lambda row: row.key)
def test_outside_a_trace(row, paddle):
    """What users run, op by op or deferred, gives what one compiled program gives."""
    problem = engine.Ours(paddle, row)
    problem.start()
    zero = jnp.zeros(())
    apart = [float(v) for v in problem.at(zero, 3)]
    compiled = jax.jit(lambda t: problem.at(t, 3))
    np.testing.assert_allclose(apart, compiled(zero), rtol=1e-9, atol=1e-9)


def test_every_differentiable_op_has_a_row():
    rows = {row.op.rsplit(".", 1)[-1] for row in ROWS}
    named = {name for names in REASONS.values() for name in names.split()}
    missing = [name for name, op in OPS.items() if not op.nondiff and name not in rows | named]
    assert not missing, (
        "add a row to tests/autograd/derivatives/rows_*.py, or a reason to table.py, "
        f"for {', '.join(missing)}"
    )
    assert not named & rows, "these have a row and a reason for having none"
    assert named <= set(OPS), "the reasons name ops that are not there"
    assert len({row.key for row in ROWS}) == len(ROWS), "two rows are the same"


def test_page_and_oracle_have_every_row():
    """docs/derivatives.md and oracle.json are made by tools/derivative_table.py (--oracle); both
    must know each row."""
    page, asked = (
        (HOME / "docs/derivatives.md").read_text(),
        json.loads((HOME / "tests/autograd/derivatives/oracle.json").read_text()),
    )
    stale = [row.key for row in ROWS if f"| {row.op} | `{row.text}`" not in page or row.key not in asked]
    assert not stale, f"run python tools/derivative_table.py --oracle; it does not know {', '.join(stale)}"
    assert set(asked) == {row.key for row in ROWS}
    assert "**" not in page.split("## The rows")[1], "the page tells of a derivative that is wrong"


def test_a_wrong_derivative_is_noticed():
    """The judge accepts the derivatives of sin and refuses a wrong one, a missing one and
    NaN, of any order."""
    row = engine.Row("sin", "p.sin(x)", ())
    t = 0.3 + engine.POINTS * row.step
    table = np.stack([np.sin(t), np.cos(t), -np.sin(t), -np.cos(t)], 1)
    modes = [table[3, 1:], table[3, 2:]]
    assert engine.judged(row, table, *modes) == {}
    for order in (1, 2, 3):
        for bad in (1.0001, 0.0, np.nan):
            changed = table.copy()
            changed[:, order] *= bad
            assert str(order) in engine.judged(row, changed)
    assert list(engine.judged(row, table, modes[0] * 1.001, modes[1])) == ["forward"]
    assert list(engine.judged(row, table, modes[0], modes[1] * np.nan)) == ["mixed"]
