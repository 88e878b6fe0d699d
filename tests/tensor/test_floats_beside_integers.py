"""Functions of an integer Tensor and a float: Paddle cuts the fraction, its operators do not."""

import pytest

import paddle_jax as paddle

# (function, number, result for [7, -7, 3, -1]) as Paddle 3.3.1 gives it
CUT = [
    (paddle.remainder, 2.5, [1, 1, 1, 1]),
    (paddle.mod, 2.0, [1, 1, 1, 1]),
    (paddle.pow, 2.5, [49, 49, 9, 1]),
    (paddle.pow, 0.5, [1, 1, 1, 1]),
]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("function, number, expected", CUT)
def test_a_function_cuts_the_fraction(function, number, expected, dtype):
    result = function(paddle.to_tensor([7, -7, 3, -1], dtype=dtype), number)
    assert result.dtype == getattr(paddle, dtype)
    assert result.tolist() == expected


def test_a_divisor_below_one_is_zero():
    with pytest.raises(ZeroDivisionError):
        paddle.remainder(paddle.to_tensor([7, -7]), 0.5)


def test_an_operator_keeps_the_fraction():
    assert (paddle.to_tensor([7, 3], dtype="int64") % 2.5).tolist() == [2.0, 0.5]
    assert (paddle.to_tensor([1, 4], dtype="int64") ** 0.5).tolist() == [1.0, 2.0]
