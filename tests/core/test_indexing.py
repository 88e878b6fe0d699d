"""Indexing: gradients of writing, refusals, and one kernel for a loop. Random indices are in tests/tensor/test_indexing_properties.py."""

import numpy as np
import pytest

import paddle_jax as paddle


def source(shape):
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape)


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
