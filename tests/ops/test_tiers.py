"""The op table in three tiers: values, first and second gradients of the first case of each op.

NumPy computes every kernel at once, and XLA compiles what is deferred. Both must agree. What NumPy refuses is
compiled, kernel by kernel.
"""

import numpy as np
import pytest

import paddle_jax
from tests.interpreter import table
from tests.ops import harness as h
from tests.ops.table import NAMES, OPS, find, public_path

# as many samples as a box is large
REFUSED = {"roi_align": ["a loop with one condition per element is compiled"]}
EXCHANGED = {"matrix_exp"}  # compares in a loop with what is outside: a < b, or b > a


def everything(ours, case):
    """(exception class, outputs, gradients, second gradients); the gradients are looked at together, so that
    they are one segment."""
    result = h.evaluate(paddle_jax, ours, case)
    if result.error is not None:
        return type(result.error), [], []
    grads = h.first_gradient(paddle_jax, result, create_graph=True)
    second = h.second_gradient(paddle_jax, grads, result.leaves) if grads else None
    tensors = [*(grads or []), *(second or [])]
    return None, result.outs, [None if t is None else (h.name_of(t), h.to_numpy(t)) for t in tensors]


@pytest.fixture
def flags():
    paddle_jax.set_flags({"FLAGS_interpreter": False})
    return paddle_jax.set_flags


@pytest.mark.parametrize("name", [n for n in NAMES if not OPS[n].random])
def test_compiled_as_at_once(name, flags):
    ours = find(paddle_jax, public_path(name))
    case = OPS[name].cases[0].lstrip("~ ")
    record = table.Record()
    with record.watching():
        paddle_jax.seed(1)
        error, outs, grads = everything(ours, case)
    assert list(record.refused) == REFUSED.get(name, [])
    assert name in EXCHANGED or not record.unlike, "\n".join(record.unlike)
    layouts = list(record.wrong_layouts())
    assert not layouts, "\n".join(layouts)
    flags({"FLAGS_deferred": "sync", "FLAGS_deferred_min_repeats": 1})
    paddle_jax.seed(1)
    got_error, got_outs, got_grads = everything(ours, case)
    assert got_error is error
    assert [o[:2] for o in got_outs] == [o[:2] for o in outs]
    for (dtype, _, array), (_, _, want) in zip(got_outs, outs, strict=True):
        assert dtype == "python" or h.difference(array, want, dtype) is None
    assert [g is None for g in got_grads] == [g is None for g in grads]
    for got, want in zip(got_grads, grads, strict=True):
        if want is not None:
            assert got[0] == want[0]
            assert np.shape(got[1]) == np.shape(want[1])
            assert h.difference(got[1], want[1], want[0]) is None
