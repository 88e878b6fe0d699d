"""Kernels of random ops as plans against XLA, and what has no plan.

tests/ops/test_tiers.py compares all other ops.

Unit tests of `_core.numpy_backend`.
"""

import pytest
from jax.extend.core import primitives

import paddle_jax
from paddle_jax._core.numpy_backend import RULES
from paddle_jax._core.numpy_backend.flatten import CALLS
from tests.interpreter import table
from tests.ops.table import OPS, find, public_path

WITHOUT_RULE = {
    "between devices": {
        "all_gather",
        "all_to_all",
        "axis_index",
        "pmax",
        "pmin",
        "ppermute",
        "psum",
        "ragged_all_to_all",
    },
    "order of effects, and references": {"after_all", "create_token", "get", "swap"},
    "inside a linearisation only": {"custom_lin"},
    "opened by flatten": {"custom_linear_solve"},
    "loops of their own, met by no op": {"igamma_grad_a", "random_gamma"},
    "another generator's bits": {"rng_bit_generator", "rng_uniform"},
    "approximate, or the derivative of a window's choice, met by no op": {
        "approx_top_k",
        "select_and_gather_add",
        "select_and_scatter",
    },
}


@pytest.mark.parametrize("name", [name for name in sorted(OPS) if OPS[name].random])
def test_kernels_of_a_random_op(name):
    record = table.Record()
    table.run(find(paddle_jax, public_path(name)), OPS[name].cases[0], record)
    assert not record.refused
    assert not record.unlike, "\n".join(record.unlike)
    problems = list(record.problems())
    assert not problems, "\n".join(problems)


def test_every_primitive_has_a_rule_or_a_reason():
    known = {getattr(primitives, name).name for name in dir(primitives) if name.endswith("_p")}
    assert known - set(RULES) - CALLS - set().union(*WITHOUT_RULE.values()) == set()
