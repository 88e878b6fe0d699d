"""A sample of the op table compiles for GPUs and TPUs, with gradients; tools/platform_table.py has all."""

import pytest

from paddle_jax.aot import compilers
from paddle_jax.aot.chips import CHIPS
from tests.aot import op_cases

SAMPLE = """add matmul softmax_with_cross_entropy cumsum sort gather conv2d max_pool2d layer_norm cholesky
interpolate linear dropout embedding topk where roi_align""".split()


def skip_without(target):
    lacking = compilers.missing(CHIPS[target].platform) if target in CHIPS else []
    if lacking:
        pytest.skip(f"the compiler for {target} is not installed ({', '.join(lacking)})")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["h100", "v5e", "rocm"])
@pytest.mark.parametrize("name", [name for name in SAMPLE if name in op_cases.OPS])
def test_ops_compile(name, target):
    skip_without(target)
    cases = op_cases.cases_of(name)
    assert cases
    for case, tensors, flows in cases:
        verdicts = op_cases.check(name, case, tensors, flows, target)
        assert set(verdicts) <= {op_cases.YES, op_cases.EAGER, ""}, (case, verdicts)
