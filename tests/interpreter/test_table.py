"""The op table through plans: the first case of each op with its gradient and second gradient, each kernel
against XLA; and what has no plan."""

import pytest
from jax.extend.core import primitives

import paddle_jax
from paddle_jax._core.numpy_backend import RULES
from paddle_jax._core.numpy_backend.flatten import CALLS
from paddle_jax._core.ops.op import OPS
from tests.interpreter import table
from tests.ops.table import find, public_path

NAMES = sorted(OPS)
GROUP = 8  # ops whose kernels are compiled as one program
# as many samples as a box is large
REFUSED = {"roi_align": "a loop with one condition per element is compiled"}
EXCHANGED = {"matrix_exp"}  # compares in a loop with what is outside: a < b, or b > a
ILL_POSED = {"pca_lowrank", "svd_lowrank"}  # vectors of vanishing singular values: the last bit decides

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


@pytest.mark.parametrize("first", range(0, len(NAMES), GROUP))
def test_kernels_of_the_op_table(first):
    record = table.Record()
    for name in NAMES[first : first + GROUP]:
        path = public_path(name)
        if path is not None:
            table.run(find(paddle_jax, path), OPS[name].cases[0], record)
    assert set(record.refused) == {REFUSED[name] for name in NAMES[first : first + GROUP] if name in REFUSED}
    unlike = [text for text in record.unlike if not text.startswith(tuple(EXCHANGED))]
    assert not unlike, "\n".join(unlike)
    problems = [text for text in record.problems() if not text.startswith(tuple(ILL_POSED))]
    assert not problems, "\n".join(problems)


def test_every_primitive_has_a_rule_or_a_reason():
    known = {getattr(primitives, name).name for name in dir(primitives) if name.endswith("_p")}
    assert known - set(RULES) - CALLS - set().union(*WITHOUT_RULE.values()) == set()
