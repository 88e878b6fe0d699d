"""Indexing against NumPy: random shapes and indices, reading, writing and gradients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import paddle_jax as paddle

SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3)


@st.composite
def indexed(draw):
    """A shape and an index of integers, slices, ... and None that NumPy accepts."""
    shape = draw(SHAPES)
    return shape, draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))


@st.composite
def gathered(draw):
    """A shape and index arrays for its first axes."""
    shape = draw(SHAPES)
    count = draw(st.integers(1, len(shape)))
    result = draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=1, max_side=3))
    arrays = tuple(draw(hnp.arrays(np.int64, result, elements=st.integers(-n, n - 1))) for n in shape[:count])
    return shape, arrays


def source(shape):
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape)


@settings(max_examples=60, deadline=None)
@given(indexed())
def test_basic_reading_and_writing(case):
    shape, index = case
    array = source(shape)
    np.testing.assert_array_equal(paddle.to_tensor(array)[index].numpy(), array[index])
    t = paddle.to_tensor(array)
    t[index] = -1.0
    array[index] = -1.0
    np.testing.assert_array_equal(t.numpy(), array)


@settings(max_examples=25, deadline=None)
@given(gathered())
def test_index_arrays(case):
    shape, arrays = case
    array = source(shape)
    tensors = tuple(paddle.to_tensor(a) for a in arrays)
    np.testing.assert_array_equal(paddle.to_tensor(array)[tensors].numpy(), array[arrays])
    x = paddle.to_tensor(array, stop_gradient=False)
    x[tensors].sum().backward()
    counts = np.zeros(shape)
    np.add.at(counts, arrays, 1.0)
    np.testing.assert_array_equal(x.grad.numpy(), counts)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_masks(data):
    shape = data.draw(SHAPES)
    mask = data.draw(hnp.arrays(np.bool_, shape[: data.draw(st.integers(1, len(shape)))]))
    array = source(shape)
    np.testing.assert_array_equal(paddle.to_tensor(array)[paddle.to_tensor(mask)].numpy(), array[mask])
    t = paddle.to_tensor(array)
    t[paddle.to_tensor(mask)] = -1.0
    array[mask] = -1.0
    np.testing.assert_array_equal(t.numpy(), array)


def test_gradients_of_writing():
    x = paddle.to_tensor(np.ones((3, 2)), stop_gradient=False)
    v = paddle.to_tensor(np.ones(2), stop_gradient=False)
    y = x * 2
    y[1] = v * 3
    (y * y).sum().backward()
    assert x.grad.tolist() == [[8.0, 8.0], [0.0, 0.0], [8.0, 8.0]]
    assert v.grad.tolist() == [18.0, 18.0]


@pytest.mark.parametrize("index", [3, -4, (0, 2), (0, 0, 0), [0, 3]])
def test_out_of_range(index):
    with pytest.raises(IndexError):
        paddle.ones([3, 2])[index]
    t = paddle.ones([3, 2])
    with pytest.raises(IndexError):
        t[index] = 0.0
    assert t.tolist() == [[1.0, 1.0]] * 3


def test_one_kernel_for_a_loop():
    from paddle_jax.tensor.indexing import take_index

    x = paddle.to_tensor(source((50, 2)))
    x[0], x[0:2]
    before = len(take_index.op.kernels)
    assert [x[i].tolist()[0] for i in range(50)] == [2.0 * i for i in range(50)]
    assert [x[i : i + 2].tolist()[0][0] for i in range(48)] == [2.0 * i for i in range(48)]
    assert len(take_index.op.kernels) == before
