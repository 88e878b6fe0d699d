"""The op table in the deferred tier, compiled at first sight: values, first and second gradients as when
every op runs at once."""

import numpy as np
import pytest

import paddle_jax
from paddle_jax._core.ops.op import OPS
from tests.ops import harness as h
from tests.ops.table import NAMES, find, public_path

CASES = 1  # of each op: every further one costs some compilations


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
    for case in [c.lstrip("~ ") for c in OPS[name].cases[:CASES]]:
        flags({"FLAGS_deferred": "off"})
        paddle_jax.seed(1)
        error, outs, grads = everything(ours, case)
        flags({"FLAGS_deferred": "sync", "FLAGS_deferred_min_repeats": 1})
        paddle_jax.seed(1)
        got_error, got_outs, got_grads = everything(ours, case)
        assert got_error is error, case
        assert [o[:2] for o in got_outs] == [o[:2] for o in outs], case
        for (dtype, _, array), (_, _, want) in zip(got_outs, outs, strict=True):
            assert dtype == "python" or h.difference(array, want, dtype) is None, case
        assert [g is None for g in got_grads] == [g is None for g in grads], case
        for got, want in zip(got_grads, grads, strict=True):
            if want is not None:
                assert got[0] == want[0], case
                assert np.shape(got[1]) == np.shape(want[1]), case
                assert h.difference(got[1], want[1], want[0], 10.0) is None, case
