"""Random tensors of plain lengths take a short way: the same numbers as on the way of other lengths."""

import numpy as np
import pytest

DRAWS = {
    "rand": lambda p, shape, dtype: p.rand(shape, dtype),
    "randn": lambda p, shape, dtype: p.randn(shape, dtype),
    "uniform": lambda p, shape, dtype: p.uniform(shape, dtype, min=-1, max=2.5),
    "gaussian": lambda p, shape, dtype: p.tensor.random.gaussian(shape, 1.0, 2.0, dtype=dtype),
}


def both_ways(paddle, draw):
    """What a function draws for plain lengths, and for the same lengths with a Tensor among them."""
    found = []
    for shape in ([2, 3], [paddle.to_tensor(2), 3]):
        paddle.seed(5)
        draw(shape)  # the second call finds the kernel of the first
        found.append(draw(shape))
    return found


@pytest.mark.parametrize("dtype", [None, "float64", "complex64"])
@pytest.mark.parametrize("name", DRAWS)
def test_numbers_are_those_of_other_lengths(paddle, name, dtype):
    short, other = both_ways(paddle, lambda shape: DRAWS[name](paddle, shape, dtype))
    assert short.dtype == other.dtype == getattr(paddle, dtype or "float32")
    assert short.shape == [2, 3]
    np.testing.assert_array_equal(short.numpy(), other.numpy())


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_are_those_of_other_lengths(paddle, dtype):
    short, other = both_ways(paddle, lambda shape: paddle.randint(-3, 1000, shape, dtype))
    assert short.dtype == other.dtype == getattr(paddle, dtype)
    np.testing.assert_array_equal(short.numpy(), other.numpy())


def test_mixed_precision_leaves_draws_as_they_are(paddle):
    paddle.seed(5)
    expected = paddle.randn([4]).numpy()
    paddle.seed(5)
    with paddle.amp.auto_cast(level="O2", dtype="bfloat16"):
        drawn = paddle.randn([4])
    assert drawn.dtype == paddle.float32
    np.testing.assert_array_equal(drawn.numpy(), expected)


def test_other_lengths_are_refused(paddle):
    paddle.rand([1, 2])
    with pytest.raises(ValueError, match="shape"):
        paddle.rand([True, 2])
    with pytest.raises(RuntimeError, match="lengths are >= 0"):
        paddle.rand([-1, 2])
