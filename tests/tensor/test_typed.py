"""FloatTensor and its kind against the real Paddle."""

import numpy as np
import pytest

import paddle_jax
from tests.ops import harness as h

NAMES = [
    "FloatTensor",
    "DoubleTensor",
    "HalfTensor",
    "BFloat16Tensor",
    "ByteTensor",
    "CharTensor",
    "ShortTensor",
    "IntTensor",
    "LongTensor",
    "BoolTensor",
]
CASES = [
    "[1, 0]",
    "[[1.5, 2], [3, 4]]",
    "(2, 3)",
    "",
    "~2, 3",
    "~2",
    "0",
    "i(3)",
    "f(2)",
    "np.ones((2,))",
    "[]",
    "[1, 2], device='cpu'",
    "2.5",
    "'a'",
    "None",
    "2, 2.5",
    "True",
    "-1",
]


@pytest.mark.parametrize("name", NAMES)
def test_as_the_oracle(name, oracle):
    theirs, ours = getattr(oracle, name), getattr(paddle_jax, name)
    for case in CASES if name == "FloatTensor" else CASES[:6]:
        exact, case = not case.startswith("~"), case.lstrip("~")
        want, got = h.evaluate(oracle, theirs, case), h.evaluate(paddle_jax, ours, case)
        if want.error is not None:
            assert got.error is not None and h.same_refusal(got.error, want.error), (
                f"{case}: {got.error!r}, expected {want.error!r}"
            )
        else:
            assert got.error is None, f"{case}: {got.error!r}"
            assert h.compare_outputs(got, want, values=exact) is None, case


def test_lengths_give_zeros_and_the_constructor_no_instances():
    x = paddle_jax.LongTensor(2, 3)
    assert not np.any(x.numpy()) and type(x) is paddle_jax.Tensor and not isinstance(x, paddle_jax.LongTensor)
    with pytest.raises(TypeError):
        paddle_jax.LongTensor(data=[1])
