"""Random numbers of a CPU are hashed without a loop where they are few: the same bits.

Unit tests of `_core.kernels`.
"""

import jax
import numpy as np
import pytest

import paddle_jax  # noqa: F401  it registers the rule
from paddle_jax._core.kernels.random_rounds import MOST_IN_A_LINE, threefry2x32

# Key, counter and result of Threefry 2x32 with 20 rounds: the known answers of its authors (Random123).
ANSWERS = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("key", "counter", "expected"), ANSWERS)
@pytest.mark.parametrize("shape", [(), (3, 5), (2, MOST_IN_A_LINE)])
def test_bits_are_the_known_ones(key, counter, expected, shape):
    operands = [np.full(shape, number, np.uint32) for number in (*key, *counter)]
    results = jax.jit(threefry2x32.threefry2x32_p.bind)(*operands)
    for result, number in zip(results, expected, strict=True):
        assert result.shape == shape
        assert (np.asarray(result) == number).all()


@pytest.mark.parametrize(("count", "loops"), [(MOST_IN_A_LINE, 0), (MOST_IN_A_LINE + 1, 1)])
def test_few_numbers_need_no_loop(count, loops):
    operands = [np.zeros(count, np.uint32)] * 4
    text = jax.jit(threefry2x32.threefry2x32_p.bind).lower(*operands).as_text()
    assert text.count("stablehlo.while") == loops
